import { describe, expect, test } from '@jest/globals';
import { Authorizer } from '../../aws/authorization/authorizer.ts';
import { keysByResource } from '../../aws/authorization/keys.ts';
import { collectPolicies } from '../../aws/authorization/policies.ts';
import { type Principal, roleSession, servicePrincipal } from '../../aws/authorization/principals.ts';
import type { DeployedResource } from '../../contract.ts';
import { loadAssembly } from '../../templates/assembly.ts';
import { evaluateAssembly } from '../../templates/evaluate.ts';
import { NameSource } from '../../templates/names.ts';
import { allow, getAtt, type Resources, role, writeAssembly } from './fixture.ts';

const environment = { region: 'us-east-1', accountId: '123456789012' };

/** An authorizer for one stack's resources, without anything running. */
function authorizerFor(resources: Resources) {
  const assembly = writeAssembly({ Test: { Resources: resources } });
  const deployed = evaluateAssembly(loadAssembly(assembly.directory), {
    ...environment,
    endpoint: 'http://127.0.0.1:1',
    names: new NameSource('test'),
  }).resources;
  assembly.remove();
  const policies = collectPolicies(deployed);
  const authorizer = new Authorizer(policies, keysByResource(deployed), environment);
  const find = (logicalId: string): DeployedResource => {
    const resource = deployed.find((candidate) => candidate.logicalId === logicalId);
    if (resource === undefined) throw new Error(`no ${logicalId}`);
    return resource;
  };
  const session = (logicalId: string): Principal => {
    const found = policies.roles.get(find(logicalId).arn);
    if (found === undefined) throw new Error(`no role ${logicalId}`);
    return roleSession(found, 'fn', environment.accountId);
  };
  return { authorizer, arn: (logicalId: string) => find(logicalId).arn, session };
}

const policy = (...Statement: object[]) => ({ Version: '2012-10-17', Statement: Statement as never[] });

/** The key policy that CDK writes: the account's own policies decide. */
const accountKey = {
  Type: 'AWS::KMS::Key',
  Properties: {
    KeyPolicy: policy({
      Effect: 'Allow',
      Principal: { AWS: { 'Fn::Sub': 'arn:aws:iam::${AWS::AccountId}:root' } },
      Action: 'kms:*',
      Resource: '*',
    }),
  },
};

describe('policies of a role', () => {
  test('inline, attached, managed by the template and managed by AWS all count', async () => {
    const { authorizer, arn, session } = authorizerFor({
      Queue: { Type: 'AWS::SQS::Queue' },
      Role: {
        ...role(allow('sqs:SendMessage', getAtt('Queue'))),
        Properties: {
          ...(role(allow('sqs:SendMessage', getAtt('Queue')))?.Properties as object),
          ManagedPolicyArns: [
            { Ref: 'Managed' },
            { 'Fn::Sub': 'arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole' },
          ],
        },
      },
      Managed: {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: { PolicyDocument: policy({ Effect: 'Allow', Action: 'sqs:PurgeQueue', Resource: '*' }) },
      },
      Attached: {
        Type: 'AWS::IAM::Policy',
        Properties: {
          PolicyName: 'Attached',
          PolicyDocument: policy({ Effect: 'Allow', Action: 'sqs:DeleteMessage', Resource: getAtt('Queue') }),
          Roles: [{ Ref: 'Role' }],
        },
      },
    });
    const may = async (action: string, resource: string): Promise<boolean> =>
      (await authorizer.authorize({ principal: session('Role'), action, resource })).allowed;
    expect(await may('sqs:SendMessage', arn('Queue'))).toBe(true);
    expect(await may('sqs:DeleteMessage', arn('Queue'))).toBe(true);
    expect(await may('sqs:PurgeQueue', arn('Queue'))).toBe(true);
    expect(await may('logs:PutLogEvents', 'arn:aws:logs:us-east-1:123456789012:log-group:a:log-stream:b')).toBe(true);
    expect(await may('sqs:ReceiveMessage', arn('Queue'))).toBe(false);
    expect(authorizer.unusedStatements()).toEqual([]);
    expect(authorizer.usedStatements().map(({ policy: name }) => name)).toEqual([
      'Inline',
      'Attached',
      arn('Managed'),
      'arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole',
    ]);
  });

  test('an action that IAM does not know is refused by name', async () => {
    const { authorizer, arn, session } = authorizerFor({
      Queue: { Type: 'AWS::SQS::Queue' },
      Role: role(allow('sqs:*', '*')),
    });
    const decision = await authorizer.authorize({
      principal: session('Role'),
      action: 'sqs:SendLetter',
      resource: arn('Queue'),
    });
    expect(decision.allowed).toBe(false);
    expect(decision.message).toContain('sqs:SendLetter');
    expect(decision.message).toContain('invalid.action');
  });

  test('a permissions boundary limits them', async () => {
    const { authorizer, arn, session } = authorizerFor({
      Queue: { Type: 'AWS::SQS::Queue' },
      Boundary: {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: { PolicyDocument: policy({ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' }) },
      },
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          ...(role(allow('sqs:*', '*'))?.Properties as object),
          PermissionsBoundary: { Ref: 'Boundary' },
        },
      },
    });
    const ask = (action: string) =>
      authorizer.authorize({ principal: session('Role'), action, resource: arn('Queue') });
    expect((await ask('sqs:SendMessage')).allowed).toBe(true);
    expect((await ask('sqs:PurgeQueue')).message).toContain('because no permissions boundary allows');
  });

  test('a managed policy of AWS whose content is not known is an error that names it', () => {
    const resources = {
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          ...(role()?.Properties as object),
          ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'],
        },
      },
    };
    expect(() => authorizerFor(resources)).toThrow(/Test\/Role .*AdministratorAccess/);
  });

  test('a condition on a key that has no value here is an error that names it', () => {
    const conditioned = allow('sqs:SendMessage', '*', { Condition: { StringEquals: { 'aws:SourceVpc': 'vpc-1' } } });
    expect(() => authorizerFor({ Role: role(conditioned) })).toThrow(/Policy Inline of role .* aws:sourcevpc/);
  });
});

describe('services', () => {
  const rule = 'arn:aws:events:us-east-1:123456789012:rule/every-minute';
  const resources = {
    Runner: role(),
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: { Code: { ZipFile: '' }, Role: getAtt('Runner'), Runtime: 'nodejs24.x', Handler: 'a.b' },
    },
    Permission: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: getAtt('Function'),
        Principal: 'events.amazonaws.com',
        SourceArn: rule,
      },
    },
  };

  test('need a permission of the function, for their own source', async () => {
    const { authorizer, arn } = authorizerFor(resources);
    const ask = (principal: string, source: string) =>
      authorizer.authorize({
        principal: servicePrincipal(principal),
        action: 'lambda:InvokeFunction',
        resource: arn('Function'),
        context: { 'aws:SourceArn': source },
      });
    expect((await ask('events.amazonaws.com', rule)).allowed).toBe(true);
    expect((await ask('events.amazonaws.com', `${rule}-other`)).allowed).toBe(false);
    expect((await ask('apigateway.amazonaws.com', rule)).message).toContain('because no resource-based policy allows');
    expect(authorizer.usedStatements()).toMatchObject([
      { kind: 'resource', owner: arn('Function'), sid: 'Permission' },
    ]);
  });
});

describe('encryption keys', () => {
  const alarmSource = { 'aws:SourceArn': 'arn:aws:cloudwatch:us-east-1:123456789012:alarm:a' };
  const topicPolicy = {
    Type: 'AWS::SNS::TopicPolicy',
    Properties: {
      Topics: [{ Ref: 'Topic' }],
      PolicyDocument: policy({
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: { Ref: 'Topic' },
      }),
    },
  };
  const publish = { action: 'sns:Publish', context: alarmSource } as const;

  test('a caller needs the key of an encrypted queue as well', async () => {
    const { authorizer, arn, session } = authorizerFor({
      Key: accountKey,
      Queue: { Type: 'AWS::SQS::Queue', Properties: { KmsMasterKeyId: getAtt('Key') } },
      Without: role(allow('sqs:SendMessage', getAtt('Queue'))),
      With: role(
        allow('sqs:SendMessage', getAtt('Queue')),
        allow(['kms:GenerateDataKey', 'kms:Decrypt'], getAtt('Key')),
      ),
    });
    const ask = (principal: Principal) =>
      authorizer.authorize({ principal, action: 'sqs:SendMessage', resource: arn('Queue') });
    expect((await ask(session('With'))).allowed).toBe(true);
    const refused = await ask(session('Without'));
    expect(refused.message).toContain(`kms:GenerateDataKey on resource: ${arn('Key')}`);
    expect(authorizer.denials()).toMatchObject([{ action: 'kms:GenerateDataKey', resource: arn('Key') }]);
  });

  test('a service needs the key policy to name it', async () => {
    const named = {
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: 'kms:*',
      Resource: '*',
    };
    const topic = { Type: 'AWS::SNS::Topic', Properties: { KmsMasterKeyId: { Ref: 'Key' } } };
    const key = { Type: 'AWS::KMS::Key', Properties: { KeyPolicy: policy(named) } };
    const principal = servicePrincipal('cloudwatch.amazonaws.com');
    for (const [given, allowed] of [
      [key, true],
      [accountKey, false],
    ] as const) {
      const { authorizer, arn } = authorizerFor({ Key: given, Topic: topic, TopicPolicy: topicPolicy });
      const decision = await authorizer.authorize({ principal, resource: arn('Topic'), ...publish });
      expect(decision.allowed).toBe(allowed);
    }
  });

  test("no service can use a topic's default key", async () => {
    const { authorizer, arn } = authorizerFor({
      Topic: { Type: 'AWS::SNS::Topic', Properties: { KmsMasterKeyId: 'alias/aws/sns' } },
      TopicPolicy: topicPolicy,
    });
    const principal = servicePrincipal('cloudwatch.amazonaws.com');
    const decision = await authorizer.authorize({ principal, resource: arn('Topic'), ...publish });
    expect(decision.message).toContain('kms:GenerateDataKey on resource: alias/aws/sns');
  });
});
