import { authorize } from '../../../lambdas/domain/api/authorization.ts';
import { generateKey } from '../../../lambdas/domain/tenants/api-keys.ts';
import { DependencyUnavailableError, InvalidDataError } from '../../../lambdas/domain/errors.ts';
import { seededRandom, START_MS } from '../../support/memory/index.ts';

const STAGE = 'arn:aws:execute-api:eu-west-1:123456789012:a1b2c3/prod';
const { key, stored } = generateKey({ tenantId: 'acme' }, START_MS, seededRandom(1));
const store = { find: async (hash: string) => (hash === stored.hash ? stored : undefined) };
const event = (authorizationToken: string, methodArn = `${STAGE}/GET/v1/submissions/sub_1/records`) => ({
  type: 'TOKEN',
  authorizationToken,
  methodArn,
});

test('a good key may call every route of the stage, since the gateway keeps the decision for all of them', async () => {
  expect(await authorize(store, event(`Bearer ${key}`))).toEqual({
    principalId: stored.keyId,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${STAGE}/*` }],
    },
    context: { tenantId: 'acme', keyId: stored.keyId, scopes: 'submit read' },
  });
});

test('nothing of the decision holds the key', async () => {
  expect(JSON.stringify(await authorize(store, event(`Bearer ${key}`)))).not.toContain(key.slice(13));
});

test.each(['Bearer nonsense', '', `Bearer ${key.replace(/.$/, '')}`])('%j is denied everywhere', async (token) => {
  const { policyDocument, context } = await authorize(store, event(token));
  expect(policyDocument.Statement).toEqual([{ Action: 'execute-api:Invoke', Effect: 'Deny', Resource: `${STAGE}/*` }]);
  expect(context).toBeUndefined();
});

test('a store that does not answer is no refusal', async () => {
  const down = {
    find: async () => {
      throw new DependencyUnavailableError('throttled');
    },
  };
  await expect(authorize(down, event(`Bearer ${key}`))).rejects.toThrow(DependencyUnavailableError);
});

test.each([
  {},
  null,
  event(`Bearer ${key}`, 'arn:aws:lambda:eu-west-1:1:function:x'),
  { ...event('x'), authorizationToken: 1 },
])('an event of something else is refused: %#', async (other) => {
  await expect(authorize(store, other)).rejects.toThrow(InvalidDataError);
});
