import type { DeployedResource, Json } from '../../contract.ts';

/** What the owner of an encrypted resource lets its callers do with its key, by the callers' own action. */
const KEY_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'sqs:sendmessage': ['kms:GenerateDataKey', 'kms:Decrypt'],
  'sqs:receivemessage': ['kms:Decrypt'],
  'sns:publish': ['kms:GenerateDataKey', 'kms:Decrypt'],
  's3:putobject': ['kms:GenerateDataKey', 'kms:Decrypt'],
  's3:getobject': ['kms:Decrypt'],
  'secretsmanager:getsecretvalue': ['kms:Decrypt'],
  'secretsmanager:putsecretvalue': ['kms:GenerateDataKey', 'kms:Decrypt'],
};

/** A key that the service owns: its policy lets every principal of the account use it, and no other service. */
export const SERVICE_OWNED_KEY = 'alias/aws/';

/** Actions on a resource's key that a call needs besides its own; DynamoDB needs the key for every data call. */
export function keyActionsFor(action: string): readonly string[] {
  const lower = action.toLowerCase();
  if (lower.startsWith('dynamodb:')) return ['kms:Decrypt'];
  return KEY_ACTIONS[lower] ?? [];
}

/** The key that each resource is encrypted with, by the resource's ARN: a key's ARN, or `alias/aws/<service>`. */
export function keysByResource(deployed: readonly DeployedResource[]): Map<string, string> {
  const arns = new Map<string, string>();
  for (const key of deployed) if (key.type === 'AWS::KMS::Key') arns.set(key.arn, key.arn).set(key.physicalId, key.arn);
  for (const alias of deployed) {
    const target = alias.properties['TargetKeyId'];
    if (alias.type !== 'AWS::KMS::Alias' || typeof target !== 'string') continue;
    const arn = arns.get(target);
    if (arn !== undefined) arns.set(alias.physicalId, arn).set(alias.arn, arn);
  }
  const keys = new Map<string, string>();
  for (const resource of deployed) {
    const key = keyOf(resource);
    if (key === undefined) continue;
    const serviceOwned = key.match(/(alias\/aws\/[a-z0-9]+)$/)?.[1];
    const known = serviceOwned ?? arns.get(key);
    if (known !== undefined) keys.set(resource.arn, known);
  }
  return keys;
}

function keyOf({ type, properties }: DeployedResource): string | undefined {
  switch (type) {
    case 'AWS::SQS::Queue':
    case 'AWS::SNS::Topic':
      return text(properties['KmsMasterKeyId']);
    case 'AWS::SecretsManager::Secret':
      return text(properties['KmsKeyId']);
    case 'AWS::DynamoDB::Table':
      return text(member(properties['SSESpecification'], 'KMSMasterKeyId'));
    case 'AWS::DynamoDB::GlobalTable':
      return text(member(member(first(properties['Replicas']), 'SSESpecification'), 'KMSMasterKeyId'));
    case 'AWS::S3::Bucket': {
      const rule = first(member(properties['BucketEncryption'], 'ServerSideEncryptionConfiguration'));
      return text(member(member(rule, 'ServerSideEncryptionByDefault'), 'KMSMasterKeyID'));
    }
    default:
      return undefined;
  }
}

function member(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[name] : undefined;
}

function first(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? value[0] : undefined;
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
