import type { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

export interface TablesProps {
  readonly removalPolicy: RemovalPolicy;
  readonly deletionProtection: boolean;
  /** Absent: the service's own key. */
  readonly encryptionKey: IKey | undefined;
}

/** Submissions by tenant, newest first. */
export const BY_TENANT_INDEX = 'byTenant';
/** Open submissions by the time of their next check by the reconciler. */
export const OPEN_INDEX = 'open';

/** Deliveries of webhooks of a tenant, newest first. */
export const DELIVERIES_INDEX = 'byCreation';

const { STRING, NUMBER } = dynamodb.AttributeType;
const TTL_ATTRIBUTE = 'expiresAtSeconds';

/** The six tables. All are billed on demand, since work comes in bursts, and can be restored to any second of the last 35 days. */
export class Tables extends Construct {
  /** Head and ledger of every submission. */
  readonly submissions: dynamodb.Table;
  /** Outcomes of records, spread over a key per 250 of them. */
  readonly records: dynamodb.Table;
  /** Pacer and breaker of every provider. */
  readonly providers: dynamodb.Table;
  /** Hashes of API keys, and the open work of tenants. */
  readonly tenants: dynamodb.Table;
  /** Accepted requests by idempotency key, as Powertools keeps them. */
  readonly idempotency: dynamodb.Table;
  /** Endpoints of webhooks, their secrets and their deliveries: a kind of partition for each. */
  readonly webhooks: dynamodb.Table;

  constructor(scope: Construct, id: string, { removalPolicy, deletionProtection, encryptionKey }: TablesProps) {
    super(scope, id);
    const common = {
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy,
      deletionProtection,
      encryption: encryptionKey ? dynamodb.TableEncryption.CUSTOMER_MANAGED : dynamodb.TableEncryption.DEFAULT,
      ...(encryptionKey ? { encryptionKey } : {}),
    };
    this.submissions = new dynamodb.Table(this, 'Submissions', {
      partitionKey: { name: 'submissionId', type: STRING },
      sortKey: { name: 'part', type: STRING },
      timeToLiveAttribute: TTL_ATTRIBUTE,
      ...common,
    });
    // Keys only: the head changes with every closed chunk, and an index that held more of it would be written every time.
    this.submissions.addGlobalSecondaryIndex({
      indexName: BY_TENANT_INDEX,
      partitionKey: { name: 'tenantId', type: STRING },
      sortKey: { name: 'createdAtMs', type: NUMBER },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
    this.submissions.addGlobalSecondaryIndex({
      indexName: OPEN_INDEX,
      partitionKey: { name: 'openShard', type: STRING },
      sortKey: { name: 'nextCheckAtMs', type: NUMBER },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
    this.records = new dynamodb.Table(this, 'Records', {
      partitionKey: { name: 'chunkKey', type: STRING },
      sortKey: { name: 'recordNo', type: NUMBER },
      timeToLiveAttribute: TTL_ATTRIBUTE,
      ...common,
    });
    this.providers = new dynamodb.Table(this, 'Providers', {
      partitionKey: { name: 'provider', type: STRING },
      ...common,
    });
    this.tenants = new dynamodb.Table(this, 'Tenants', {
      partitionKey: { name: 'pk', type: STRING },
      timeToLiveAttribute: TTL_ATTRIBUTE,
      ...common,
    });
    this.idempotency = new dynamodb.Table(this, 'Idempotency', {
      partitionKey: { name: 'id', type: STRING },
      timeToLiveAttribute: 'expiration',
      ...common,
    });
    this.webhooks = new dynamodb.Table(this, 'Webhooks', {
      partitionKey: { name: 'owner', type: STRING },
      sortKey: { name: 'part', type: STRING },
      timeToLiveAttribute: TTL_ATTRIBUTE,
      ...common,
    });
    this.webhooks.addGlobalSecondaryIndex({
      indexName: DELIVERIES_INDEX,
      partitionKey: { name: 'owner', type: STRING },
      sortKey: { name: 'createdAtMs', type: NUMBER },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
  }
}

/**
 * Restricts a grant on the tenants table to keys with these prefixes: `key#` holds API keys, `tenant#` and `system` open work. A
 * function that counts open work could otherwise create an API key.
 */
export const ofKeys = (...patterns: readonly string[]): Record<string, Record<string, readonly string[]>> => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns },
});

/** ARN of one index of a table. */
export const indexArn = (table: dynamodb.ITable, index: string): string => `${table.tableArn}/index/${index}`;
