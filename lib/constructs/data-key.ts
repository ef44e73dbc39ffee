import { Aws, type RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

/** Services that hold data, and act with the key for whoever may use the data. */
const SERVICES = ['dynamodb', 's3', 'secretsmanager', 'sqs'];

/**
 * The customer-managed key of a stage that asks for one. Its policy works like that of the services' own keys: whoever
 * in this account may use a table, bucket, queue or secret may do so through the service, and nobody can use the key directly. So the
 * functions' roles stay the same with and without it.
 */
export class DataKey extends Construct {
  readonly key: kms.Key;

  constructor(scope: Construct, id: string, { removalPolicy }: { readonly removalPolicy: RemovalPolicy }) {
    super(scope, id);
    this.key = new kms.Key(this, 'Key', {
      description: 'Encrypts submissions, records, files, messages, credentials and logs',
      enableKeyRotation: true,
      removalPolicy,
    });
    this.key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'UseThroughServices',
        principals: [new iam.AnyPrincipal()],
        actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
        resources: ['*'],
        conditions: {
          StringEquals: {
            'kms:CallerAccount': Aws.ACCOUNT_ID,
            'kms:ViaService': SERVICES.map((service) => `${service}.${Aws.REGION}.amazonaws.com`),
          },
        },
      }),
    );
    // CloudWatch Logs uses the key in its own name, for whoever may write or read a log,
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    this.key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'EncryptLogs',
        principals: [new iam.ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
        actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
        resources: ['*'],
        conditions: {
          ArnLike: {
            'kms:EncryptionContext:aws:logs:arn': `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:*`,
          },
        },
      }),
    );
  }
}
