import type { PolicyDocument } from './documents.ts';

function allow(...Action: string[]): PolicyDocument {
  return { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: ['*'] }] };
}

const WRITE_LOGS = ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'];

/**
 * What the policies that AWS manages allow, by the part of the ARN after `policy/`. Source: the AWS managed policy
 * reference, https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html.
 */
export const awsManagedPolicies: Readonly<Record<string, PolicyDocument>> = {
  'service-role/AWSLambdaBasicExecutionRole': allow(...WRITE_LOGS),
  'service-role/AWSLambdaSQSQueueExecutionRole': allow(
    'sqs:ReceiveMessage',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    ...WRITE_LOGS,
  ),
  'service-role/AmazonAPIGatewayPushToCloudWatchLogs': allow(
    'logs:CreateLogGroup',
    'logs:CreateLogStream',
    'logs:DescribeLogGroups',
    'logs:DescribeLogStreams',
    'logs:PutLogEvents',
    'logs:GetLogEvents',
    'logs:FilterLogEvents',
  ),
  AWSXRayDaemonWriteAccess: allow(
    'xray:PutTraceSegments',
    'xray:PutTelemetryRecords',
    'xray:GetSamplingRules',
    'xray:GetSamplingTargets',
    'xray:GetSamplingStatisticSummaries',
  ),
};
