import { expect, test } from '@jest/globals';
import type { StatementReference } from '../../contract.ts';
import { Authorizer } from '../../aws/authorization/authorizer.ts';
import { keysByResource } from '../../aws/authorization/keys.ts';
import { collectPolicies } from '../../aws/authorization/policies.ts';
import { roleSession } from '../../aws/authorization/principals.ts';
import { loadAssembly } from '../../templates/assembly.ts';
import { evaluateAssembly } from '../../templates/evaluate.ts';
import { NameSource } from '../../templates/names.ts';
import { allow, getAtt, role, writeAssembly } from './fixture.ts';

const environment = { region: 'us-east-1', accountId: '123456789012' };

test('a statement that something needs is told from one that another makes up for, and can be withheld for a time', async () => {
  const assembly = writeAssembly({
    Test: {
      Resources: {
        Queue: { Type: 'AWS::SQS::Queue' },
        Role: role(
          allow('sqs:SendMessage', getAtt('Queue')),
          allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage'], getAtt('Queue')),
          allow('sqs:Delete*', getAtt('Queue')),
        ),
      },
    },
  });
  const { resources } = evaluateAssembly(loadAssembly(assembly.directory), {
    ...environment,
    endpoint: 'http://127.0.0.1:1',
    names: new NameSource('test'),
  });
  assembly.remove();
  const policies = collectPolicies(resources);
  const authorizer = new Authorizer(policies, keysByResource(resources), environment);
  const [own] = [...policies.roles.values()];
  if (own === undefined) throw new Error('The template has no role.');
  const resource = resources.find(({ type }) => type === 'AWS::SQS::Queue')?.arn ?? '';
  const principal = roleSession(own, 'sender', environment.accountId);
  for (const action of ['sqs:SendMessage', 'sqs:DeleteMessage', 'sqs:PurgeQueue']) {
    await authorizer.authorize({ principal, action, resource });
  }

  const statement = (index: number): StatementReference => ({
    owner: own.name,
    functionNames: [],
    kind: 'identity',
    policy: 'Inline',
    index,
    sid: undefined,
    effect: 'Allow',
    actions: [],
    resources: [],
  });
  const refusedWithout = async (index: number): Promise<unknown> => {
    const refused = await authorizer.refusedWithout(statement(index));
    return refused.map(({ functionName, action, message }) => [functionName, action, message]);
  };
  expect(await refusedWithout(0)).toEqual([
    [
      'sender',
      'sqs:SendMessage',
      expect.stringMatching(/sender is not authorized to perform: sqs:SendMessage on .*Queue/),
    ],
  ]);
  expect([await refusedWithout(1), await refusedWithout(2)]).toEqual([[], []]);
  expect(authorizer.denials().map(({ action }) => action)).toEqual(['sqs:PurgeQueue']);

  const used = authorizer.usedStatements();
  const giveBack = authorizer.withhold(statement(0));
  const send = async (): Promise<boolean> =>
    (await authorizer.authorize({ principal, action: 'sqs:SendMessage', resource })).allowed;
  const remove = async (): Promise<boolean> =>
    (await authorizer.authorize({ principal, action: 'sqs:DeleteMessage', resource })).allowed;
  expect([await send(), await remove()]).toEqual([false, true]);
  expect(authorizer.denials().map(({ action }) => action)).toEqual(['sqs:PurgeQueue', 'sqs:SendMessage']);
  expect(authorizer.usedStatements()).toEqual(used);
  giveBack();
  expect([await send(), await remove()]).toEqual([true, true]);
});
