/** One thing that AWS bills. */
export interface Price {
  readonly what: string;
  /** US dollars for `per` units. */
  readonly usd: number;
  readonly per: number;
  /** Where the price is published. */
  readonly source: string;
}

const MILLION = 1_000_000;

/**
 * On-demand prices of US East (N. Virginia), as published in 2026, without free tiers and volume discounts: for the dashboard's and the
 * capacity plan's estimates. Correct them for another region or contract.
 */
export const PRICES = {
  sqsRequest: {
    what: 'SQS requests (64 KB each)',
    usd: 0.4,
    per: MILLION,
    source: 'https://aws.amazon.com/sqs/pricing/',
  },
  sqsFairRequest: {
    what: 'SQS fair-queue surcharge',
    usd: 0.1,
    per: MILLION,
    source: 'https://aws.amazon.com/sqs/pricing/',
  },
  dynamoWrite: {
    what: 'DynamoDB write units',
    usd: 0.625,
    per: MILLION,
    source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  },
  dynamoRead: {
    what: 'DynamoDB read units',
    usd: 0.125,
    per: MILLION,
    source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  },
  s3Put: { what: 'S3 PUT', usd: 0.005, per: 1_000, source: 'https://aws.amazon.com/s3/pricing/' },
  s3Get: { what: 'S3 GET', usd: 0.0004, per: 1_000, source: 'https://aws.amazon.com/s3/pricing/' },
  lambdaRequest: { what: 'Lambda requests', usd: 0.2, per: MILLION, source: 'https://aws.amazon.com/lambda/pricing/' },
  lambdaGbSecond: {
    what: 'Lambda GB-seconds (arm64)',
    usd: 0.0000133334,
    per: 1,
    source: 'https://aws.amazon.com/lambda/pricing/',
  },
  apiRequest: {
    what: 'API Gateway requests (REST)',
    usd: 3.5,
    per: MILLION,
    source: 'https://aws.amazon.com/api-gateway/pricing/',
  },
  logGb: {
    what: 'CloudWatch Logs, GB taken in',
    usd: 0.5,
    per: 1,
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
  },
  metric: { what: 'CloudWatch metrics', usd: 0.3, per: 1, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  alarmMetric: {
    what: 'CloudWatch alarms, per metric looked at',
    usd: 0.1,
    per: 1,
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
  },
  compositeAlarm: {
    what: 'CloudWatch composite alarms',
    usd: 0.5,
    per: 1,
    source: 'https://aws.amazon.com/cloudwatch/pricing/',
  },
  dashboard: { what: 'CloudWatch dashboards', usd: 3, per: 1, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  secret: { what: 'Secrets', usd: 0.4, per: 1, source: 'https://aws.amazon.com/secrets-manager/pricing/' },
  stateTransition: {
    what: 'Step Functions state transitions',
    usd: 0.025,
    per: 1_000,
    source: 'https://aws.amazon.com/step-functions/pricing/',
  },
  expressRequest: {
    what: 'Step Functions express executions',
    usd: 1,
    per: MILLION,
    source: 'https://aws.amazon.com/step-functions/pricing/',
  },
  expressGbSecond: {
    what: 'Step Functions express GB-seconds',
    usd: 0.00001667,
    per: 1,
    source: 'https://aws.amazon.com/step-functions/pricing/',
  },
} as const satisfies Record<string, Price>;

export type Priced = keyof typeof PRICES;

/** US dollars for this much of one thing. */
export const priceOf = (priced: Priced, amount: number): number => (amount * PRICES[priced].usd) / PRICES[priced].per;
