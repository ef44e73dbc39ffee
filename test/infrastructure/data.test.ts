import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import type { Stage } from '../../config/stage.ts';
import { synthesize } from './synthesized.ts';

const tableSchema = v.object({
  KeySchema: v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })),
  AttributeDefinitions: v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })),
  BillingMode: v.string(),
  PointInTimeRecoverySpecification: v.object({ PointInTimeRecoveryEnabled: v.boolean() }),
  DeletionProtectionEnabled: v.optional(v.boolean()),
  SSESpecification: v.optional(v.unknown()),
  TimeToLiveSpecification: v.optional(v.object({ AttributeName: v.string(), Enabled: v.literal(true) })),
  GlobalSecondaryIndexes: v.optional(
    v.array(
      v.object({
        IndexName: v.string(),
        KeySchema: v.array(v.object({ AttributeName: v.string() })),
        Projection: v.object({ ProjectionType: v.string() }),
      }),
    ),
    [],
  ),
});
const bucketSchema = v.object({
  PublicAccessBlockConfiguration: v.record(v.string(), v.boolean()),
  BucketEncryption: v.unknown(),
  LifecycleConfiguration: v.object({ Rules: v.array(v.record(v.string(), v.unknown())) }),
  VersioningConfiguration: v.optional(v.unknown()),
  CorsConfiguration: v.optional(v.unknown()),
  LoggingConfiguration: v.optional(v.object({ DestinationBucketName: v.unknown() })),
});
const bucketPolicySchema = v.object({
  Bucket: v.unknown(),
  PolicyDocument: v.object({ Statement: v.array(v.record(v.string(), v.unknown())) }),
});

/** Types that hold something which cannot be made again. */
const STATEFUL = [
  'AWS::DynamoDB::Table',
  'AWS::S3::Bucket',
  'AWS::SecretsManager::Secret',
  'AWS::KMS::Key',
  'AWS::SNS::Topic',
] as const;

const stages = { dev: synthesize(dev), prod: synthesize(prod) };

describe('what holds data', () => {
  const statefulOf = (stage: keyof typeof stages) =>
    stages[stage].resources.filter(({ type }) => STATEFUL.some((stateful) => stateful === type));

  it('is all in the data stack, which nothing else shares', () => {
    for (const stage of ['dev', 'prod'] as const) {
      expect(new Set(statefulOf(stage).map(({ stack }) => stack))).toEqual(new Set(['data']));
      expect(statefulOf(stage)).toHaveLength(11);
    }
  });

  it('survives everything in production', () => {
    for (const { deletionPolicy, updateReplacePolicy } of statefulOf('prod')) {
      expect([deletionPolicy, updateReplacePolicy]).toEqual(['Retain', 'Retain']);
    }
    for (const { properties } of stages.prod.ofType('AWS::DynamoDB::Table', tableSchema)) {
      expect(properties.DeletionProtectionEnabled).toBe(true);
    }
    expect(stages.prod.sluice.data.terminationProtection).toBe(true);
  });

  it('goes with the stack in development', () => {
    for (const { deletionPolicy } of statefulOf('dev')) expect(deletionPolicy).toBe('Delete');
    for (const { properties } of stages.dev.ofType('AWS::DynamoDB::Table', tableSchema)) {
      expect(properties.DeletionProtectionEnabled).toBe(false);
    }
    expect(stages.dev.sluice.data.terminationProtection).toBe(false);
  });

  it('has no name of its own, so that what was retained never blocks a new deployment', () => {
    const names = /^(?:TableName|BucketName|QueueName|TopicName|FunctionName|LogGroupName|RoleName|Name)$/;
    const named = [...STATEFUL, 'AWS::SQS::Queue', 'AWS::Logs::LogGroup', 'AWS::Lambda::Function', 'AWS::IAM::Role'];
    for (const { id, type, properties } of stages.prod.resources.filter((resource) => named.includes(resource.type))) {
      const own = Object.keys(properties).filter((property) => names.test(property));
      expect({ id, type, own }).toEqual({ id, type, own: [] });
    }
  });

  it('in logs stays in production and goes in development', () => {
    for (const [stage, policy] of [
      ['prod', 'Retain'],
      ['dev', 'Delete'],
    ] as const) {
      const groups = stages[stage].resources.filter(({ type }) => type === 'AWS::Logs::LogGroup');
      expect(new Set(groups.map(({ deletionPolicy }) => deletionPolicy))).toEqual(new Set([policy]));
    }
  });
});

describe('the tables', () => {
  const tables = stages.prod.ofType('AWS::DynamoDB::Table', tableSchema);
  const shape = (id: string) => {
    const table = tables.find((candidate) => candidate.id.startsWith(`Tables${id}`))?.properties;
    const type = (name: string) =>
      table?.AttributeDefinitions.find((definition) => definition.AttributeName === name)?.AttributeType;
    return {
      keys: table?.KeySchema.map(({ AttributeName }) => `${AttributeName}:${type(AttributeName)}`),
      ttl: table?.TimeToLiveSpecification?.AttributeName,
      indexes: table?.GlobalSecondaryIndexes.map(
        ({ IndexName, KeySchema, Projection }) =>
          `${IndexName} ${KeySchema.map(({ AttributeName }) => `${AttributeName}:${type(AttributeName)}`).join(' ')} ${Projection.ProjectionType}`,
      ),
    };
  };

  it('are keyed as the code that reads them expects', () => {
    expect(shape('Submissions')).toEqual({
      keys: ['submissionId:S', 'part:S'],
      ttl: 'expiresAtSeconds',
      indexes: ['byTenant tenantId:S createdAtMs:N KEYS_ONLY', 'open openShard:S nextCheckAtMs:N KEYS_ONLY'],
    });
    expect(shape('Records')).toEqual({ keys: ['chunkKey:S', 'recordNo:N'], ttl: 'expiresAtSeconds', indexes: [] });
    expect(shape('Providers')).toEqual({ keys: ['provider:S'], ttl: undefined, indexes: [] });
    expect(shape('Tenants')).toEqual({ keys: ['pk:S'], ttl: 'expiresAtSeconds', indexes: [] });
    expect(shape('Idempotency')).toEqual({ keys: ['id:S'], ttl: 'expiration', indexes: [] });
  });

  it.each(tables)('$id is billed by use and can be restored to any second', ({ properties }) => {
    expect(properties.BillingMode).toBe('PAY_PER_REQUEST');
    expect(properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled).toBe(true);
  });
});

describe('the buckets', () => {
  const buckets = stages.prod.ofType('AWS::S3::Bucket', bucketSchema);
  const policies = stages.prod.ofType('AWS::S3::BucketPolicy', bucketPolicySchema);
  const files = (from = stages.prod) =>
    from.ofType('AWS::S3::Bucket', bucketSchema).find(({ id }) => id.startsWith('FilesBucket'));

  it.each(buckets)('$id is closed to the public and to connections without TLS', ({ id, properties }) => {
    expect(properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    const policy = policies.find(({ properties: { Bucket } }) => stages.prod.referenced(Bucket) === id);
    expect(policy?.properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Action: 's3:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
    expect(JSON.stringify(properties.BucketEncryption)).toContain('AES256');
  });

  it('drop uploads and results after the data about them, and unfinished uploads after a day', () => {
    const expiring = (stage: Stage) => ({ Status: 'Enabled', ExpirationInDays: stage.retentionDays + 1 });
    expect(files(stages.dev)?.properties.LifecycleConfiguration.Rules).toMatchObject([
      { Id: 'ExpireUploads', Prefix: 'uploads/', ...expiring(dev) },
      { Id: 'ExpirePrepared', Prefix: 'prepared/', ...expiring(dev) },
      { Id: 'ExpireResults', Prefix: 'results/', ...expiring(dev) },
      { Id: 'ExpireSetApart', Prefix: 'set-apart/', ...expiring(dev) },
      { Id: 'DropUnfinishedUploads' },
    ]);
    const versions = { NoncurrentVersionExpiration: { NoncurrentDays: 7 } };
    expect(files()?.properties.LifecycleConfiguration.Rules).toEqual([
      { Id: 'ExpireUploads', Prefix: 'uploads/', ...expiring(prod), ...versions },
      { Id: 'ExpirePrepared', Prefix: 'prepared/', ...expiring(prod), ...versions },
      { Id: 'ExpireResults', Prefix: 'results/', ...expiring(prod), ...versions },
      { Id: 'ExpireSetApart', Prefix: 'set-apart/', ...expiring(prod), ...versions },
      {
        Id: 'DropUnfinishedUploads',
        Status: 'Enabled',
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      },
    ]);
  });

  it('keep deleted files for a while in production, and only there', () => {
    expect(files()?.properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(files(stages.dev)?.properties.VersioningConfiguration).toBeUndefined();
  });

  it('let nobody write an upload but once, not even in parts', () => {
    const policy = policies.find(({ properties: { Bucket } }) => stages.prod.referenced(Bucket) === files()?.id);
    const rule = policy?.properties.PolicyDocument.Statement.find(({ Sid }) => Sid === 'WriteUploadsOnce');
    expect(rule).toMatchObject({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 's3:PutObject',
      Condition: { Null: { 's3:if-none-match': 'true' } },
    });
    expect(JSON.stringify(rule?.['Resource'])).toContain('/uploads/*');
  });

  it('note who read what', () => {
    const logs = buckets.find(({ id }) => id.startsWith('FilesAccessLogs'));
    expect(stages.prod.referenced(files()?.properties.LoggingConfiguration?.DestinationBucketName)).toBe(logs?.id);
  });

  it('let pages upload with the signed headers, from the configured origins only', () => {
    expect(files()?.properties.CorsConfiguration).toBeUndefined();
    expect(files(stages.dev)?.properties.CorsConfiguration).toEqual({
      CorsRules: [
        expect.objectContaining({
          AllowedOrigins: dev.api.corsOrigins,
          AllowedMethods: ['PUT', 'GET', 'HEAD'],
          AllowedHeaders: expect.arrayContaining(['content-type', 'if-none-match']),
        }),
      ],
    });
  });
});
