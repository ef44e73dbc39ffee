import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

export interface DataBucketProps {
  /** Days that a submission is kept; its files stay one day longer, so that none disappears under a running request. */
  readonly retentionDays: number;
  /** Origins from which browsers upload and download. */
  readonly corsOrigins: readonly string[];
  readonly removalPolicy: RemovalPolicy;
  /** Whether files that were deleted or overwritten can be had back, for {@link UNDELETE_DAYS} days. */
  readonly versioned: boolean;
  /** Absent: a key of S3. */
  readonly encryptionKey: IKey | undefined;
}

const ACCESS_LOG_DAYS = 90;
/** How long a file that was deleted, overwritten or has expired is kept where the bucket has versions. */
const UNDELETE_DAYS = 7;

/** The bucket for what customers upload (`uploads/`), what is unpacked from it (`prepared/`), what they get (`results/`), and messages that nobody can read (`set-apart/`). */
export class DataBucket extends Construct {
  readonly bucket: s3.Bucket;

  constructor(scope: Construct, id: string, props: DataBucketProps) {
    super(scope, id);
    const guarded = {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: props.removalPolicy,
      // Only an empty bucket can be deleted.
      autoDeleteObjects: props.removalPolicy === RemovalPolicy.DESTROY,
    };
    // Who fetched which file when. Log delivery works with S3's own keys only.
    const accessLogs = new s3.Bucket(this, 'AccessLogs', {
      ...guarded,
      encryption: s3.BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ id: 'ExpireLogs', expiration: Duration.days(ACCESS_LOG_DAYS) }],
    });
    const expiring = {
      // Also removes what is left of a deleted file once its versions are gone.
      expiration: Duration.days(props.retentionDays + 1),
      ...(props.versioned ? { noncurrentVersionExpiration: Duration.days(UNDELETE_DAYS) } : {}),
    };
    this.bucket = new s3.Bucket(this, 'Bucket', {
      ...guarded,
      encryption: props.encryptionKey ? s3.BucketEncryption.KMS : s3.BucketEncryption.S3_MANAGED,
      ...(props.encryptionKey ? { encryptionKey: props.encryptionKey, bucketKeyEnabled: true } : {}),
      versioned: props.versioned,
      serverAccessLogsBucket: accessLogs,
      lifecycleRules: [
        { id: 'ExpireUploads', prefix: 'uploads/', ...expiring },
        { id: 'ExpirePrepared', prefix: 'prepared/', ...expiring },
        { id: 'ExpireResults', prefix: 'results/', ...expiring },
        { id: 'ExpireSetApart', prefix: 'set-apart/', ...expiring },
        { id: 'DropUnfinishedUploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      cors: corsRules(props.corsOrigins),
    });
    // What was accepted stays what it was, whoever writes: a function that was broken into, or an upload's link used again.
    this.bucket.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'WriteUploadsOnce',
        effect: iam.Effect.DENY,
        principals: [new iam.AnyPrincipal()],
        actions: ['s3:PutObject'],
        resources: [this.bucket.arnForObjects('uploads/*')],
        conditions: { Null: { 's3:if-none-match': 'true' } },
      }),
    );
  }
}

/** Lets pages of these origins send what the presigned URLs are signed for, and see the ETag of what they sent. */
const corsRules = (origins: readonly string[]): s3.CorsRule[] =>
  origins.length === 0
    ? []
    : [
        {
          allowedOrigins: [...origins],
          allowedMethods: [s3.HttpMethods.PUT, s3.HttpMethods.GET, s3.HttpMethods.HEAD],
          allowedHeaders: ['content-type', 'if-none-match', 'range'],
          exposedHeaders: ['etag', 'content-length', 'content-range'],
          maxAge: 3_600,
        },
      ];
