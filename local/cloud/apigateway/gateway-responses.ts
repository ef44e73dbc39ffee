import * as v from 'valibot';
import type { DeployedResource } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import { render, type GatewayContext } from './context.ts';

/** The gateway's own answers, https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const DEFAULTS = {
  ACCESS_DENIED: { status: 403, message: 'User is not authorized to access this resource' },
  API_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error' },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error' },
  AUTHORIZER_FAILURE: { status: 500, message: 'Internal server error' },
  BAD_REQUEST: { status: 400, message: 'Bad Request' },
  /** A function that failed, or answered what the gateway cannot use. */
  BAD_INTEGRATION_ANSWER: { status: 502, message: 'Internal server error' },
  INTEGRATION_FAILURE: { status: 500, message: 'Internal server error' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out' },
  MISSING_AUTHENTICATION_TOKEN: { status: 403, message: 'Missing Authentication Token' },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long' },
  THROTTLED: { status: 429, message: 'Too Many Requests' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
} as const;

export type GatewayErrorType = keyof typeof DEFAULTS;

/** Raised wherever the gateway answers by itself. */
export class GatewayError extends LocalCloudError {
  readonly type: GatewayErrorType;

  constructor(type: GatewayErrorType, message: string = DEFAULTS[type].message) {
    super(message);
    this.type = type;
  }
}

interface CustomResponse {
  readonly status: number | undefined;
  readonly template: string | undefined;
  /** Header name and the expression that gives its value. */
  readonly headers: readonly (readonly [string, string])[];
}

export type GatewayResponses = ReadonlyMap<string, CustomResponse>;

const schema = v.object({
  ResponseType: v.string(),
  StatusCode: v.optional(v.string()),
  ResponseParameters: v.optional(v.record(v.string(), v.string()), {}),
  ResponseTemplates: v.optional(v.record(v.string(), v.string()), {}),
});

const STATIC_VALUE = /^'(.*)'$/;
const MAPPED_VALUE = /^(?:context\.[\w.]+|method\.request\.header\.[\w-]+)$/;

/** @throws LocalCloudError naming the response whose template or header mapping is not supported */
export function readGatewayResponses(resources: readonly DeployedResource[]): GatewayResponses {
  return new Map(
    resources.map((resource) => {
      const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } = v.parse(schema, resource.properties);
      const template = ResponseTemplates['application/json'];
      if (template !== undefined && /#(?:set|if|foreach)|\$(?:input|util|stageVariables)\b/.test(template)) {
        throw new LocalCloudError(
          `${resource.path}: only $context variables are supported in response templates here.`,
        );
      }
      const headers = Object.entries(ResponseParameters).map(([target, value]) => {
        const name = /^gatewayresponse\.header\.(.+)$/.exec(target)?.[1];
        if (name === undefined || !(STATIC_VALUE.test(value) || MAPPED_VALUE.test(value))) {
          throw new LocalCloudError(`${resource.path}: the mapping of ${target} to ${value} is not supported here.`);
        }
        return [name, value] as const;
      });
      return [ResponseType, { status: StatusCode === undefined ? undefined : Number(StatusCode), template, headers }];
    }),
  );
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * The answer to a request that the gateway refuses by itself: the response for this very type, else the default of its class.
 * Sets the error in `context`.
 */
export function answerError(error: GatewayError, responses: GatewayResponses, context: GatewayContext): GatewayAnswer {
  const { status } = DEFAULTS[error.type];
  const fallback = status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX';
  const responseType = error.type === 'BAD_REQUEST' || error.type === 'BAD_INTEGRATION_ANSWER' ? fallback : error.type;
  const custom = responses.get(responseType) ?? responses.get(fallback);
  context.error = { message: error.message, messageString: JSON.stringify(error.message), responseType };
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, expression] of custom?.headers ?? []) {
    const value = valueOf(expression, context);
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  const template = custom?.template ?? '{"message":$context.error.messageString}';
  return { status: custom?.status ?? status, headers, body: render(template, context, '') };
}

function valueOf(expression: string, context: GatewayContext): string | undefined {
  const fixed = STATIC_VALUE.exec(expression)?.[1];
  if (fixed !== undefined) return fixed;
  const header = /^method\.request\.header\.(.+)$/.exec(expression)?.[1];
  if (header !== undefined) return context.requestHeader(header);
  return render(`$${expression}`, context, '');
}
