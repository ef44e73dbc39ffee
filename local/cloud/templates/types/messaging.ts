import { HARMLESS, type ResourceModel, withoutArn, words } from './model.ts';

/**
 * Queues, topics and what sends to them on a schedule. A queue's `MessageRetentionPeriod` is reported but not enforced:
 * messages live as long as the local cloud.
 */
export const messagingTypes: Readonly<Record<string, ResourceModel>> = {
  'AWS::SQS::Queue': {
    understood: words(`
        DelaySeconds KmsMasterKeyId MaximumMessageSize MessageRetentionPeriod QueueName
        ReceiveMessageWaitTimeSeconds RedriveAllowPolicy RedrivePolicy SqsManagedSseEnabled
        VisibilityTimeout`),
    harmless: { KmsDataKeyReusePeriodSeconds: HARMLESS.encryption, Tags: HARMLESS.tags },
    identify: (naming) => {
      const name = naming.name('QueueName', 80);
      const { endpoint, accountId } = naming.environment;
      const url = `${endpoint}/${accountId}/${name}`;
      const arn = naming.arn('sqs', name);
      return { physicalId: url, arn, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
    },
  },
  'AWS::SQS::QueuePolicy': withoutArn(['PolicyDocument', 'Queues'], (naming) => naming.name(undefined, 255)),
  'AWS::SNS::Topic': {
    understood: ['DisplayName', 'KmsMasterKeyId', 'Subscription', 'TopicName'],
    harmless: { Tags: HARMLESS.tags, TracingConfig: HARMLESS.tracing },
    identify: (naming) => {
      const name = naming.name('TopicName', 256);
      const arn = naming.arn('sns', name);
      return { physicalId: arn, arn, attributes: { TopicArn: arn, TopicName: name } };
    },
  },
  'AWS::SNS::TopicPolicy': withoutArn(['PolicyDocument', 'Topics'], (naming) => naming.name(undefined, 255)),
  'AWS::SNS::Subscription': {
    understood: words('Endpoint FilterPolicy FilterPolicyScope Protocol RawMessageDelivery TopicArn'),
    identify: (naming) => {
      const arn = `${naming.text('TopicArn') ?? ''}:${naming.uuid()}`;
      return { physicalId: arn, arn, attributes: { Arn: arn } };
    },
  },
  'AWS::Events::Rule': {
    understood: words('Description EventBusName EventPattern Name RoleArn ScheduleExpression State Targets'),
    harmless: { Tags: HARMLESS.tags },
    identify: (naming) => {
      const name = naming.name('Name', 64);
      const arn = naming.arn('events', `rule/${name}`);
      return { physicalId: name, arn, attributes: { Arn: arn } };
    },
  },
};
