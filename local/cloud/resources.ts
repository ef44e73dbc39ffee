import type { Cloud, DeployedResource } from './contract.ts';

const KINDS = {
  queues: 'AWS::SQS::Queue',
  tables: 'AWS::DynamoDB::Table',
  buckets: 'AWS::S3::Bucket',
  functions: 'AWS::Lambda::Function',
  topics: 'AWS::SNS::Topic',
  secrets: 'AWS::SecretsManager::Secret',
} as const;

export type ResourceNames = Record<keyof typeof KINDS, Record<string, string>>;

/**
 * What AWS clients need to reach the resources: URLs of queues, names of tables, buckets and functions, ARNs of topics and
 * secrets, each by its path in the stacks (`Orders/Queue`).
 */
export function resourceNames(cloud: Pick<Cloud, 'byType'>): ResourceNames {
  const names = (type: string): Record<string, string> =>
    Object.fromEntries(cloud.byType(type).map((resource) => [shortPath(resource), resource.physicalId]));
  return {
    queues: names(KINDS.queues),
    tables: names(KINDS.tables),
    buckets: names(KINDS.buckets),
    functions: names(KINDS.functions),
    topics: names(KINDS.topics),
    secrets: names(KINDS.secrets),
  };
}

const shortPath = ({ path, stack }: DeployedResource): string =>
  path.replace(new RegExp(`^${stack}/`), '').replace(/\/Resource$/, '');
