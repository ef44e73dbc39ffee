import * as v from 'valibot';
import { authenticate, type ApiKeyStore } from '../tenants/api-keys.ts';
import { InvalidDataError } from '../errors.ts';

const eventSchema = v.object({
  methodArn: v.pipe(v.string(), v.regex(/^arn:[^:]+:execute-api:[^:]*:\d*:[^/]+\/[^/]+\/.*$/)),
  authorizationToken: v.string(),
});

/** What a token authorizer answers, https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html */
export interface AuthorizerAnswer {
  principalId: string;
  policyDocument: {
    Version: '2012-10-17';
    Statement: [{ Action: 'execute-api:Invoke'; Effect: 'Allow' | 'Deny'; Resource: string }];
  };
  /** What functions learn about the caller. */
  context?: { tenantId: string; keyId: string; scopes: string };
}

/**
 * Decides about an `Authorization` header. The gateway keeps the decision for every route of the stage, so it is about the whole
 * stage: what a key may do there, the functions decide by its scopes.
 *
 * A key that is not good is denied rather than answered with an error: an error counts as a failed function, and strangers could
 * raise its alarm. The gateway turns the denial into 401.
 *
 * @throws InvalidDataError when the event is not one of a token authorizer; DependencyUnavailableError
 */
export async function authorize(store: ApiKeyStore, event: unknown): Promise<AuthorizerAnswer> {
  const parsed = v.safeParse(eventSchema, event);
  if (!parsed.success) throw new InvalidDataError('The event is not one of a token authorizer.');
  const { methodArn, authorizationToken } = parsed.output;
  const key = await authenticate(store, authorizationToken);
  if (key === undefined) return { principalId: 'nobody', policyDocument: policy('Deny', methodArn) };
  const { tenantId, keyId, scopes } = key;
  return {
    principalId: keyId,
    policyDocument: policy('Allow', methodArn),
    context: { tenantId, keyId, scopes: scopes.join(' ') },
  };
}

/** Of a method's ARN `…:API/STAGE/METHOD/PATH`, everything in the stage. */
function policy(effect: 'Allow' | 'Deny', methodArn: string): AuthorizerAnswer['policyDocument'] {
  const [api, stage] = methodArn.split('/');
  const resource = `${api}/${stage}/*`;
  return {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect: effect, Resource: resource }],
  };
}
