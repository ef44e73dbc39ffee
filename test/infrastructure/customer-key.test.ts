import * as v from 'valibot';
import prod from '../../config/stages/prod.ts';
import { synthesize } from './synthesized.ts';

const customer = synthesize({ ...prod, encryption: 'customer' });

describe('with a key of the customer', () => {
  const keyId = customer.resources.find(({ id }) => id.startsWith('DataKey'))?.id;
  const sse = v.object({ SSEType: v.literal('KMS'), SSEEnabled: v.literal(true), KMSMasterKeyId: v.unknown() });

  it('tables, files, credentials and messages are encrypted by it', () => {
    const keys = [
      ...customer
        .ofType('AWS::DynamoDB::Table', v.object({ SSESpecification: sse }))
        .map((table) => table.properties.SSESpecification.KMSMasterKeyId),
      ...customer
        .ofType('AWS::SQS::Queue', v.object({ KmsMasterKeyId: v.unknown() }))
        .map((queue) => queue.properties.KmsMasterKeyId),
      ...customer
        .ofType('AWS::SecretsManager::Secret', v.object({ KmsKeyId: v.unknown() }))
        .map((secret) => secret.properties.KmsKeyId),
    ];
    expect(keys.map((key) => customer.referenced(key))).toEqual(Array.from({ length: 6 + 12 + 1 }, () => keyId));
    const files = customer.resources.find(({ id }) => id.startsWith('FilesBucket') && !id.includes('Policy'));
    expect(JSON.stringify(files?.properties['BucketEncryption'])).toContain(keyId);
  });

  it('logs are encrypted by it, which its policy lets the service do for log groups of this account only', () => {
    const groups = customer.ofType('AWS::Logs::LogGroup', v.object({ KmsKeyId: v.unknown() }));
    expect(groups.map(({ properties }) => customer.referenced(properties.KmsKeyId))).toEqual(
      Array.from({ length: 12 + 1 }, () => keyId),
    );
    const policy = v.object({ KeyPolicy: v.object({ Statement: v.array(v.record(v.string(), v.unknown())) }) });
    const [key] = customer.ofType('AWS::KMS::Key', policy).filter(({ id }) => id === keyId);
    const statement = key?.properties.KeyPolicy.Statement.find(({ Sid }) => Sid === 'EncryptLogs');
    expect(JSON.stringify(statement?.['Principal'])).toMatch(/"logs\.",\{"Ref":"AWS::Region"\},"\.amazonaws\.com"/);
    expect(JSON.stringify(statement?.['Condition'])).toMatch(
      /"kms:EncryptionContext:aws:logs:arn":.*"Ref":"AWS::AccountId"\},":log-group:\*"/,
    );
  });

  it('the functions need no right to the key: they use it through the services', () => {
    const policies = customer.resources.filter(({ type }) => type === 'AWS::IAM::Policy');
    expect(policies).toHaveLength(12);
    expect(JSON.stringify(policies)).not.toContain('kms:');
    const key = customer.resources.find(({ id }) => id === keyId);
    expect(JSON.stringify(key?.properties['KeyPolicy'])).toContain('"kms:CallerAccount":{"Ref":"AWS::AccountId"}');
  });
});
