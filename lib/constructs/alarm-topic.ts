import { Aws, type RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

export interface AlarmTopicProps {
  /** Subscribed at deployment; it must confirm by the mail it gets. */
  readonly email: string | undefined;
  readonly removalPolicy: RemovalPolicy;
}

/**
 * The topic that alarms are published to, encrypted with a key of its own: CloudWatch cannot publish to a topic under
 * the service's default key, whose policy nobody can change.
 */
export class AlarmTopic extends Construct {
  readonly topic: sns.Topic;

  constructor(scope: Construct, id: string, { email, removalPolicy }: AlarmTopicProps) {
    super(scope, id);
    const key = new kms.Key(this, 'Key', {
      description: 'Encrypts alarms on their way to the people on call',
      enableKeyRotation: true,
      removalPolicy,
    });
    this.topic = new sns.Topic(this, 'Topic', { masterKey: key, enforceSSL: true });
    // People confirmed the subscriptions; they are deleted with the topic.
    this.topic.applyRemovalPolicy(removalPolicy);

    const cloudWatch = new iam.ServicePrincipal('cloudwatch.amazonaws.com');
    // Alarms of this account only: without the condition any account's alarm could be pointed at the topic.
    const conditions = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } };
    key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'AlarmsEncrypt',
        principals: [cloudWatch],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions,
      }),
    );
    this.topic.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'AlarmsPublish',
        principals: [cloudWatch],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions,
      }),
    );
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email));
  }
}
