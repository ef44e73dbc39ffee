import { HARMLESS, type ResourceModel, withoutArn, words } from './model.ts';

const table: ResourceModel['identify'] = (naming) => {
  const name = naming.name('TableName', 255);
  const arn = naming.arn('dynamodb', `table/${name}`);
  return { physicalId: name, arn, attributes: { Arn: arn, TableId: naming.uuid() } };
};

/** Tables, buckets, secrets and keys. */
export const dataTypes: Readonly<Record<string, ResourceModel>> = {
  'AWS::DynamoDB::Table': {
    understood: words(`
        AttributeDefinitions BillingMode GlobalSecondaryIndexes KeySchema LocalSecondaryIndexes
        ProvisionedThroughput ResourcePolicy SSESpecification TableName TimeToLiveSpecification`),
    harmless: {
      ContributorInsightsSpecification: 'no insights are collected here',
      DeletionProtectionEnabled: HARMLESS.deletion,
      OnDemandThroughput: 'the emulator has no throughput limits',
      PointInTimeRecoverySpecification: HARMLESS.backup,
      TableClass: 'only changes the price',
      Tags: HARMLESS.tags,
      WarmThroughput: 'the emulator has no throughput limits',
    },
    identify: table,
  },
  'AWS::DynamoDB::GlobalTable': {
    understood: words(`
        AttributeDefinitions BillingMode GlobalSecondaryIndexes KeySchema LocalSecondaryIndexes Replicas
        SSESpecification TableName TimeToLiveSpecification`),
    harmless: {
      WarmThroughput: 'the emulator has no throughput limits',
      WriteOnDemandThroughputSettings: 'the emulator has no throughput limits',
    },
    identify: table,
  },
  'AWS::S3::Bucket': {
    understood: ['BucketEncryption', 'BucketName', 'CorsConfiguration'],
    harmless: {
      LifecycleConfiguration: 'not enforced: objects live as long as the local cloud',
      LoggingConfiguration: 'no server access logs are written here',
      OwnershipControls: 'there is one owner here, and no ACL is evaluated',
      PublicAccessBlockConfiguration: 'nothing is public here: every call needs a permission',
      Tags: HARMLESS.tags,
      VersioningConfiguration: 'not enforced: only the newest version of an object is kept',
    },
    identify: (naming) => {
      const name = naming.name('BucketName', 63).toLowerCase();
      const arn = `arn:aws:s3:::${name}`;
      const regional = `${name}.s3.${naming.environment.region}.amazonaws.com`;
      return {
        physicalId: name,
        arn,
        attributes: { Arn: arn, DomainName: `${name}.s3.amazonaws.com`, RegionalDomainName: regional },
      };
    },
  },
  'AWS::S3::BucketPolicy': withoutArn(['Bucket', 'PolicyDocument'], (naming) => naming.name('Bucket', 63)),
  'AWS::SecretsManager::Secret': {
    understood: words('Description GenerateSecretString KmsKeyId Name SecretString'),
    harmless: { ReplicaRegions: 'there is one region here', Tags: HARMLESS.tags },
    identify: (naming) => {
      // Secrets Manager appends six random characters, so that a secret with the same name has another ARN.
      const name = naming.text('Name') ?? `${naming.logicalId.slice(0, 450)}-${naming.suffix(12)}`;
      const arn = naming.arn('secretsmanager', `secret:${name}-${naming.suffix(6, 'arn')}`);
      return { physicalId: arn, arn, attributes: { Id: arn } };
    },
  },
  'AWS::SecretsManager::ResourcePolicy': withoutArn(['ResourcePolicy', 'SecretId'], (naming) => naming.uuid(), {
    BlockPublicPolicy: 'nothing is public here: every call needs a permission',
  }),
  'AWS::KMS::Key': {
    understood: words('Description Enabled KeyPolicy KeySpec KeyUsage'),
    harmless: {
      BypassPolicyLockoutSafetyCheck: 'the operator is never locked out here',
      EnableKeyRotation: HARMLESS.encryption,
      PendingWindowInDays: HARMLESS.deletion,
      RotationPeriodInDays: HARMLESS.encryption,
      Tags: HARMLESS.tags,
    },
    identify: (naming) => {
      const arn = naming.arn('kms', `key/${naming.uuid()}`);
      return { physicalId: naming.uuid(), arn, attributes: { Arn: arn, KeyId: naming.uuid() } };
    },
  },
  'AWS::KMS::Alias': {
    understood: ['AliasName', 'TargetKeyId'],
    identify: (naming) => {
      const name = naming.text('AliasName') ?? `alias/${naming.logicalId}`;
      return { physicalId: name, arn: naming.arn('kms', name), attributes: {} };
    },
  },
};
