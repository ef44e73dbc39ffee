import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as v from 'valibot';
import type { InvokeResult } from '../contract.ts';
import { isBinary } from './event.ts';
import { GatewayError } from './gateway-responses.ts';

const scalar = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform((value) => String(value)),
);

const answerSchema = v.object({
  statusCode: v.pipe(
    v.union([v.number(), v.string()]),
    v.transform(Number),
    v.integer(),
    v.minValue(100),
    v.maxValue(599),
  ),
  headers: v.nullish(v.record(v.string(), scalar), {}),
  multiValueHeaders: v.nullish(v.record(v.string(), v.array(scalar)), {}),
  body: v.nullish(v.string()),
  isBase64Encoded: v.optional(v.boolean(), false),
});

/** Headers that the gateway sets by itself; a function's values come out under another name. */
const REMAPPED = new Set(['authorization', 'connection', 'date', 'server', 'user-agent', 'www-authenticate']);
const DROPPED = new Set(['content-length', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer']);

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Record<string, string[]>;
  readonly body: Buffer;
}

/**
 * Turns a function's answer into an HTTP answer.
 *
 * @param accept the request's `Accept`: with the API's binary media types it decides whether base64 is decoded
 * @throws GatewayError when the function failed or its answer is not one of a proxy integration
 */
export function httpAnswerOf(
  result: InvokeResult,
  binaryMediaTypes: readonly string[],
  accept: string | undefined,
): HttpAnswer {
  if (result.functionError !== undefined) throw new GatewayError('BAD_INTEGRATION_ANSWER');
  if (result.statusCode === 413) throw new GatewayError('REQUEST_TOO_LARGE');
  if (result.statusCode !== 200) throw new GatewayError('INTEGRATION_FAILURE');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), answerSchema), result.payload);
  if (!parsed.success) throw new GatewayError('BAD_INTEGRATION_ANSWER');
  const { statusCode, body, isBase64Encoded } = parsed.output;
  const headers = mergeHeaders(parsed.output.headers ?? {}, parsed.output.multiValueHeaders ?? {});
  const decode = isBase64Encoded && acceptsBinary(binaryMediaTypes, accept, headers['content-type']?.[0]);
  return { status: statusCode, headers, body: Buffer.from(body ?? '', decode ? 'base64' : 'utf8') };
}

function acceptsBinary(types: readonly string[], accept: string | undefined, contentType: string | undefined): boolean {
  const first = accept?.split(',')[0];
  return (first !== undefined && isBinary(types, first)) || (contentType !== undefined && isBinary(types, contentType));
}

function mergeHeaders(single: Record<string, string>, multi: Record<string, string[]>): Record<string, string[]> {
  const merged: Record<string, string[]> = {};
  const all = [...Object.entries(single).map(([name, value]) => [name, [value]] as const), ...Object.entries(multi)];
  for (const [name, values] of all) {
    const lower = name.toLowerCase();
    if (DROPPED.has(lower)) continue;
    if (!isSendable(name, values)) throw new GatewayError('BAD_INTEGRATION_ANSWER');
    // The list wins over a single value of the same name.
    merged[REMAPPED.has(lower) ? `x-amzn-remapped-${lower}` : lower] = [...values];
  }
  merged['content-type'] ??= ['application/json'];
  return merged;
}

function isSendable(name: string, values: readonly string[]): boolean {
  try {
    validateHeaderName(name);
    for (const value of values) validateHeaderValue(name, value);
    return true;
  } catch {
    // Characters that HTTP does not know in a header.
    return false;
  }
}
