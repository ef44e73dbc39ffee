import * as v from 'valibot';

const texts = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => (typeof value === 'string' ? [value] : value)),
);

const scalar = v.union([v.string(), v.number(), v.boolean()]);

/** What an authorizer function must answer. */
export const authorizerAnswer = v.object({
  principalId: v.string(),
  policyDocument: v.object({
    Statement: v.array(
      v.object({
        Effect: v.picklist(['Allow', 'Deny']),
        Action: texts,
        Resource: texts,
        Condition: v.optional(v.undefined('conditions in authorizer policies are not supported here')),
      }),
    ),
  }),
  context: v.optional(v.nullable(v.record(v.string(), scalar)), {}),
});

export type AuthorizerAnswer = v.InferOutput<typeof authorizerAnswer>;

/** Whether a policy lets its principal call a method; an explicit deny wins. */
export function evaluate(
  policy: AuthorizerAnswer['policyDocument'],
  methodArn: string,
): 'allowed' | 'denied' | 'not_allowed' {
  const applying = policy.Statement.filter(
    ({ Action, Resource }) =>
      Action.some((action) => matches(action.toLowerCase(), 'execute-api:invoke')) &&
      Resource.some((pattern) => matches(pattern, methodArn)),
  );
  if (applying.some(({ Effect }) => Effect === 'Deny')) return 'denied';
  return applying.length > 0 ? 'allowed' : 'not_allowed';
}

/** `*` stands for any characters, slashes included, and `?` for exactly one. */
function matches(pattern: string, text: string): boolean {
  const escaped = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^]*')
    .replaceAll('?', '[^]');
  return new RegExp(`^${escaped}$`).test(text);
}
