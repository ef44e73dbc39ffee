import { InvalidDataError } from '../../lambdas/domain/errors.ts';
import { readAuthorizerEnvironment } from '../../lambdas/authorizer/env.ts';
import { readReconcilerEnvironment } from '../../lambdas/reconciler/env.ts';
import { readWorkerEnvironment } from '../../lambdas/worker/env.ts';

const common = {
  STAGE: 'dev',
  POWERTOOLS_SERVICE_NAME: 'worker',
  POWERTOOLS_METRICS_NAMESPACE: 'Sluice',
  POWERTOOLS_LOG_LEVEL: 'INFO',
};

const worker = {
  ...common,
  SUBMISSIONS_TABLE: 'submissions',
  RECORDS_TABLE: 'records',
  PROVIDERS_TABLE: 'providers',
  PROVIDERS_SECRET_ARN: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:providers',
  PROVIDER_BASE_URLS: '{"company":"https://api.example.com","geo":"http://127.0.0.1:4100"}',
  PROVIDER_RATES: '{"company":200,"geo":0.5}',
  PROVIDER_BURSTS: '{"company":10,"geo":0}',
  PROVIDER_CALLS_PER_WORKER: '{"geo":2}',
  LANE: 'bulk',
  LANE_QUEUE_URL: 'https://sqs.example.com/bulk',
  LANE_DLQ_URL: 'https://sqs.example.com/bulk-dlq',
  FINALIZE_QUEUE_URL: 'https://sqs.example.com/finalize',
  SUCCESS_LOG_SHARE: '0.01',
};

describe('an environment', () => {
  it('is read into typed values', () => {
    const read = readWorkerEnvironment({ ...worker, PATH: '/bin' });
    expect(read).toMatchObject({
      LANE: 'bulk',
      PROVIDER_BASE_URLS: { company: 'https://api.example.com', geo: 'http://127.0.0.1:4100' },
      PROVIDER_RATES: { company: 200, geo: 0.5 },
      PROVIDER_BURSTS: { company: 10, geo: 0 },
      PROVIDER_CALLS_PER_WORKER: { geo: 2 },
      SUCCESS_LOG_SHARE: 0.01,
    });
    expect(read).not.toHaveProperty('PATH');
  });

  it('that lacks variables is refused, naming all of them and the remedy', () => {
    const read = () => readAuthorizerEnvironment({ ...common, STAGE: undefined });
    expect(read).toThrow(InvalidDataError);
    expect(read).toThrow(
      /authorizer function.*STAGE is missing; TENANTS_TABLE is missing.*lambdas\/authorizer\/env\.ts/,
    );
  });

  it.each([
    ['LANE', 'express', /LANE is "express": small or bulk is required/],
    ['SUCCESS_LOG_SHARE', '1.5', /SUCCESS_LOG_SHARE is "1\.5": a number from 0 to 1 is required/],
    ['PROVIDER_RATES', '{"company":0}', /rates above zero are required/],
    ['PROVIDER_CALLS_PER_WORKER', '{"geo":0}', /at least 1 is required/],
    ['PROVIDER_BURSTS', '{"geo":-1}', /at least 0 is required/],
    ['PROVIDER_RATES', 'company=5', /PROVIDER_RATES is "company=5": JSON is required/],
    ['POWERTOOLS_LOG_LEVEL', 'LOUD', /DEBUG, INFO, WARN or ERROR is required/],
    ['BUCKET', '', /BUCKET is "": a value is required/],
    ['LANE_VISIBILITY_SECONDS', '0', /LANE_VISIBILITY_SECONDS is "0": at least 1 is required/],
    ['LANE_VISIBILITY_SECONDS', '-1', /LANE_VISIBILITY_SECONDS is "-1": a whole number is required/],
    ['LANE_VISIBILITY_SECONDS', '9999999999999999', /a smaller number is required/],
    ['AUTOMATIC_REDRIVE', 'true', /AUTOMATIC_REDRIVE is "true": on or off is required/],
  ])('with %s = %s is refused, quoting the value', (name, value, message) => {
    const source = { ...worker, [name]: value };
    const read = name in worker ? readWorkerEnvironment : readReconcilerEnvironment;
    expect(() => read(source)).toThrow(message);
  });

  it.each([
    'http://api.example.com',
    'http://127.0.0.1.example.com',
    'https://user:secret@api.example.com',
    'https://api.example.com/?key=1',
    'ftp://127.0.0.1',
    'api.example.com',
  ])('that would send credentials to %s is refused', (url) => {
    const read = () => readWorkerEnvironment({ ...worker, PROVIDER_BASE_URLS: JSON.stringify({ company: url }) });
    expect(read).toThrow(/PROVIDER_BASE_URLS .*https URLs without credentials/);
  });
});
