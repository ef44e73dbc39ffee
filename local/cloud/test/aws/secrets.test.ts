import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { Cloud } from '../../contract.ts';
import { allow, clientOf, operatorOf, rejection, role, startTestCloud } from './fixture.ts';

let cloud: Cloud;
let reader: SecretsManagerClient;
let operator: SecretsManagerClient;

beforeAll(async () => {
  cloud = await startTestCloud({
    Generated: {
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        GenerateSecretString: {
          SecretStringTemplate: '{"user":"admin"}',
          GenerateStringKey: 'password',
          ExcludePunctuation: true,
          PasswordLength: 20,
        },
      },
    },
    Fixed: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'fixed', SecretString: 'given' } },
    Reader: role(allow('secretsmanager:GetSecretValue', { Ref: 'Generated' })),
  });
  reader = new SecretsManagerClient(clientOf(cloud, 'Reader'));
  operator = new SecretsManagerClient(operatorOf(cloud));
});

afterAll(async () => {
  reader.destroy();
  operator.destroy();
  await cloud.stop();
});

const read = (SecretId: string, client = operator, more: object = {}) =>
  client.send(new GetSecretValueCommand({ SecretId, ...more }));

test('a secret is generated as its template says, and read by whoever may', async () => {
  const { SecretString } = await read(cloud.byLogicalId('Generated').arn, reader);
  expect(JSON.parse(SecretString ?? '')).toEqual({
    user: 'admin',
    password: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
  });
});

test('another secret is refused', async () => {
  const error = await rejection(read('fixed', reader));
  expect(error).toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } });
  expect(error.message).toContain(`secretsmanager:GetSecretValue on resource: ${cloud.byLogicalId('Fixed').arn}`);
});

describe('a new value', () => {
  test('becomes the current one, and the one before stays readable until the next', async () => {
    const first = await read('fixed');
    await operator.send(new PutSecretValueCommand({ SecretId: 'fixed', SecretString: 'second' }));
    expect((await read('fixed')).SecretString).toBe('second');
    expect(await read('fixed', operator, { VersionStage: 'AWSPREVIOUS' })).toMatchObject({
      SecretString: 'given',
      VersionId: first.VersionId,
    });
    await operator.send(new PutSecretValueCommand({ SecretId: 'fixed', SecretString: 'third' }));
    expect((await read('fixed', operator, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('second');
    const forgotten = await rejection(read('fixed', operator, { VersionId: first.VersionId }));
    expect(forgotten.name).toBe('ResourceNotFoundException');
  });

  test('shows in the description', async () => {
    const described = await operator.send(new DescribeSecretCommand({ SecretId: 'fixed' }));
    expect(
      Object.values(described.VersionIdsToStages ?? {})
        .flat()
        .sort(),
    ).toEqual(['AWSCURRENT', 'AWSPREVIOUS']);
  });
});

test('secrets are listed by name', async () => {
  const { SecretList } = await operator.send(new ListSecretsCommand({}));
  expect(SecretList?.map(({ Name }) => Name)).toEqual([expect.stringMatching(/^Generated-/), 'fixed']);
});
