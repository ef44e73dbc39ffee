import { CfnOutput, Fn, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { providersOf, type Stage } from '../../config/stage.ts';
import { AlarmTopic } from '../constructs/alarm-topic.ts';
import { DataBucket } from '../constructs/data-bucket.ts';
import { DataKey } from '../constructs/data-key.ts';
import { ProvidersSecret } from '../constructs/providers-secret.ts';
import { Tables } from '../constructs/tables.ts';
import { refuseToDeployPlaceholders } from '../placeholders.ts';

export interface DataStackProps extends StackProps {
  readonly stage: Stage;
}

/** What functions are given access to. */
export interface Stores {
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly records: ITable;
  readonly providers: ITable;
  readonly tenants: ITable;
  readonly idempotency: ITable;
  readonly webhooks: ITable;
  readonly providersSecret: ISecret;
}

/** Everything that holds data or that people have subscribed to. The other stacks can be torn down and deployed again. */
export class DataStack extends Stack {
  /** Present where the stage asks for a customer-managed key. */
  readonly key: IKey | undefined;
  readonly stores: Stores;
  readonly alarmTopic: ITopic;
  /** Present where stand-ins answer in the place of the providers: a part of the stack's id, which nobody can guess. */
  readonly standInCredential: string | undefined;

  constructor(scope: Construct, id: string, { stage, ...stackProps }: DataStackProps) {
    const keep = stage.protection === 'retain';
    super(scope, id, { terminationProtection: keep, ...stackProps });
    const removalPolicy = keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;

    this.key = stage.encryption === 'customer' ? new DataKey(this, 'DataKey', { removalPolicy }).key : undefined;
    const protection = { removalPolicy, encryptionKey: this.key };
    const { retentionDays, api } = stage;
    const credential = stage.standInProviders ? Fn.select(2, Fn.split('/', this.stackId)) : undefined;
    this.standInCredential = credential;
    const tables = new Tables(this, 'Tables', { deletionProtection: keep, ...protection });
    this.stores = {
      bucket: new DataBucket(this, 'Files', {
        retentionDays,
        corsOrigins: api.corsOrigins,
        versioned: keep,
        ...protection,
      }).bucket,
      providersSecret: new ProvidersSecret(this, 'Providers', {
        ...protection,
        standInCredentials:
          credential && JSON.stringify(Object.fromEntries(providersOf(stage).map(({ name }) => [name, credential]))),
      }).secret,
      submissions: tables.submissions,
      records: tables.records,
      providers: tables.providers,
      tenants: tables.tenants,
      idempotency: tables.idempotency,
      webhooks: tables.webhooks,
    };
    this.alarmTopic = new AlarmTopic(this, 'Alarms', { email: stage.alarms.email, removalPolicy }).topic;
    this.#addOutputs();
    refuseToDeployPlaceholders(this, stage);
  }

  /** What people and the command line need to find. */
  #addOutputs(): void {
    const { stores } = this;
    const outputs = {
      BucketName: stores.bucket.bucketName,
      SubmissionsTableName: stores.submissions.tableName,
      RecordsTableName: stores.records.tableName,
      ProvidersTableName: stores.providers.tableName,
      TenantsTableName: stores.tenants.tableName,
      ProvidersSecretArn: stores.providersSecret.secretArn,
      AlarmTopicArn: this.alarmTopic.topicArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
