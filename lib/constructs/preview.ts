import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Stage } from '../../config/stage.ts';
import { previewEnvironment } from '../../lambdas/preview/env.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { ofKeys } from './tables.ts';

export interface PreviewProps {
  readonly settings: FunctionSettings;
  readonly stage: Stage;
  readonly providerRates: string;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly tenants: ITable;
}

/** Below the API's 29 seconds: a caller gets our answer and not the gateway's. */
const TIMEOUT_SECONDS = 25;

/** Looks at uploaded files before they are submitted. It can write nothing. */
export class Preview extends Construct {
  readonly fn: PipelineFunction<typeof previewEnvironment>;

  constructor(scope: Construct, id: string, props: PreviewProps) {
    super(scope, id);
    const { limits, api, worker } = props.stage;
    this.fn = new PipelineFunction(this, 'Preview', {
      settings: props.settings,
      name: 'preview',
      description: 'API: what would become of a file',
      schema: previewEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        TENANTS_TABLE: props.tenants.tableName,
        BUCKET: props.bucket.bucketName,
        CORS_ORIGINS: JSON.stringify(api.corsOrigins),
        MAX_FILE_BYTES: String(limits.maxFileBytes),
        MAX_RECORD_BYTES: String(limits.maxRecordBytes),
        PROVIDER_RATES: props.providerRates,
        SMALL_LANE_SHARE: String(worker.smallLaneShare),
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      // A whole core: a workbook's shared texts are read before its first row.
      memoryMb: 1_769,
    });
    this.#grant(props);
  }

  #grant({ bucket, submissions, tenants }: PreviewProps): void {
    // A stored profile.
    this.fn.allow('ReadProfiles', ['dynamodb:GetItem'], [submissions.tableArn], ofKeys('profiles#*'));
    // The backlog ahead, for estimates.
    this.fn.allow('ReadBacklog', ['dynamodb:GetItem'], [tenants.tableArn], ofKeys('system'));
    // The file, and whether it is there.
    this.fn.allow('ReadUploads', ['s3:GetObject'], [bucket.arnForObjects('uploads/*')]);
    this.fn.allowToSeeMissing('SeeMissingUploads', bucket, 'uploads/');
  }
}
