import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { statusEnvironment } from '../../lambdas/status/env.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { BY_TENANT_INDEX, DELIVERIES_INDEX, indexArn, ofKeys } from './tables.ts';

export interface StatusProps {
  readonly settings: FunctionSettings;
  readonly corsOrigins: readonly string[];
  readonly providerRates: string;
  readonly smallLaneShare: number;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly records: ITable;
  readonly tenants: ITable;
  readonly webhooks: ITable;
}

/** Below the API's 29 seconds, so that the answer is the function's; a status may be waited for up to 20 seconds. */
const TIMEOUT_SECONDS = 25;

/** Answers what became of submissions and records. It can write nothing. */
export class Status extends Construct {
  readonly fn: PipelineFunction<typeof statusEnvironment>;

  constructor(scope: Construct, id: string, props: StatusProps) {
    super(scope, id);
    this.fn = new PipelineFunction(this, 'Status', {
      settings: props.settings,
      name: 'status',
      description: 'API: submissions, records, results, the API description',
      schema: statusEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        RECORDS_TABLE: props.records.tableName,
        TENANTS_TABLE: props.tenants.tableName,
        WEBHOOKS_TABLE: props.webhooks.tableName,
        BUCKET: props.bucket.bucketName,
        CORS_ORIGINS: JSON.stringify(props.corsOrigins),
        PROVIDER_RATES: props.providerRates,
        SMALL_LANE_SHARE: String(props.smallLaneShare),
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMb: 512,
    });
    this.#grant(props);
  }

  #grant({ bucket, submissions, records, tenants, webhooks }: StatusProps): void {
    // One submission with its ledger; the heads of a list.
    this.fn.allow(
      'ReadSubmissions',
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
      [submissions.tableArn],
    );
    this.fn.allow('ListByTenant', ['dynamodb:Query'], [indexArn(submissions, BY_TENANT_INDEX)]);
    // One record or a page of them, by key.
    this.fn.allow('ReadRecords', ['dynamodb:BatchGetItem'], [records.tableArn]);
    // The backlog ahead, for estimates.
    this.fn.allow('ReadBacklog', ['dynamodb:GetItem'], [tenants.tableArn], ofKeys('system'));
    // Webhooks and their deliveries, without the secrets.
    this.fn.allow(
      'ReadWebhooks',
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
      [webhooks.tableArn],
      ofKeys('endpoints#*', 'deliveries#*'),
    );
    this.fn.allow('ListDeliveries', ['dynamodb:Query'], [indexArn(webhooks, DELIVERIES_INDEX)], ofKeys('deliveries#*'));
    // A record as the customer sent it.
    this.fn.allowToReadSources(bucket);
    // Manifests, and signing downloads.
    this.fn.allow('ReadResults', ['s3:GetObject'], [bucket.arnForObjects('results/*')]);
    this.fn.allowToSeeMissing('SeeMissingResults', bucket, 'results/');
  }
}
