import { ConfigError } from '../../config/fields.ts';
import { capacityOf, clearableRecords, defineStage, providersOf } from '../../config/stage.ts';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';

const valid = { name: 'test', protection: 'destroy' } as const;
/** What a person may write, types or not. */
const define = (change: object) => () => defineStage({ ...valid, ...change });

describe('a stage', () => {
  it('needs a name and a protection; everything else has a default', () => {
    expect(defineStage(valid)).toMatchObject({
      encryption: 'aws',
      limits: { maxDirectBodyBytes: 4 * 1024 * 1024, smallLaneThreshold: 500 },
      worker: { batchSize: 10 },
    });
  });

  it.each([
    [{ name: undefined }, 'name is missing: use up to 16 lower-case letters and digits, a letter first'],
    [{ name: 'Pre-Prod' }, 'name is "Pre-Prod": use up to 16'],
    [{ protection: 'keep' }, 'protection is "keep": set one of retain, destroy'],
    [{ encryption: 'kms' }, 'encryption is "kms": set one of aws, customer'],
    [{ retentionDays: 0 }, 'retentionDays is 0: set a whole number of days from 1 to 3650'],
    [{ retentionDays: 1.5 }, 'retentionDays is 1.5: set a whole number of days'],
    [{ retentionDays: '30' }, 'retentionDays is "30": set a whole number of days'],
    [{ automaticRedrive: 'yes' }, 'automaticRedrive is "yes": set true or false'],
    [
      { limits: { maxDirectBodyBytes: 5_000_000 } },
      'limits.maxDirectBodyBytes is 5000000: set a whole number of bytes',
    ],
    [{ queueRetentionDays: 12 }, 'queueRetentionDays is 12: set a whole number of days from 1 to 11'],
    [{ logs: { retentionDays: 31 } }, 'logs.retentionDays is 31: set one of 1, 3, 5'],
    [{ logs: { successShare: 2 } }, 'logs.successShare is 2: set a number from 0 to 1'],
    [{ alarms: { email: 'nobody' } }, 'alarms.email is "nobody": set an e-mail address'],
    [
      { alarms: { email: 'on-call@example.com' } },
      'alarms.runbookUrl is "docs/runbook.md": set the https URL at which whoever gets the mails',
    ],
    [{ api: { corsOrigins: ['*'] } }, 'api.corsOrigins.0 is "*": name origins like https://app.example.com'],
    [{ api: { corsOrigins: ['https://a.example/x'] } }, 'name origins like'],
    [{ api: { webAclArn: 'my-acl' } }, 'api.webAclArn is "my-acl": set the ARN'],
    [
      { providers: { geo: { baseUrl: 'http://geo.example.com' } } },
      'providers.geo.baseUrl is "http://geo.example.com": set an https URL',
    ],
    [
      { providers: { weather: { ratePerSecond: 1 } } },
      'providers.weather is not in config/providers.ts, which has company, geo',
    ],
    [{ retention: 3 }, 'retention is not a field of a stage: remove it or correct its name'],
    [{ limits: { maxRecord: 3 } }, 'limits.maxRecord is not a field of a stage'],
    [
      { submissionDeadlineHours: 96 },
      'submissionDeadlineHours is 96, but messages expire after queueRetentionDays (4)',
    ],
    [{ retentionDays: 3 }, 'submissionDeadlineHours is 72, but data expires after retentionDays (3)'],
    [{ limits: { maxRecords: 499 } }, 'limits.smallLaneThreshold is 500, above limits.maxRecords (499)'],
    [{ admission: { maxOpenRecords: 1_000 } }, 'admission.maxOpenRecordsPerTenant is 2000000, above'],
    [{ api: { burst: 10 } }, 'api.burst is 10, below api.ratePerSecond (50)'],
    [
      { submissionDeadlineHours: 4 },
      'contractAgeSeconds.bulk is 14400, but submissions expire after submissionDeadlineHours (4): promise less',
    ],
    [
      { contractAgeSeconds: { small: 7_200 }, submissionDeadlineHours: 2 },
      'contractAgeSeconds.small is 7200, but submissions expire after submissionDeadlineHours (2)',
    ],
    [
      { contractAgeSeconds: { bulk: 3_600 } },
      'limits.maxRecords is 1000000, but the slowest provider lets 354600 records through within contractAgeSeconds.bulk (3600)',
    ],
    [
      { providers: { geo: { ratePerSecond: 7 } } },
      'limits.maxRecords is 1000000, but the slowest provider lets 99288 records through',
    ],
  ])('with %j is refused, naming field, value and remedy', (change, message) => {
    expect(define(change)).toThrow(ConfigError);
    expect(define(change)).toThrow(message);
  });

  it('is told everything that is wrong with it at once', () => {
    expect(define({ retentionDays: 0, encryption: 'none', color: 'red' })).toThrow(
      /encryption[^]*retentionDays[^]*color/,
    );
  });

  it('overrides what it names of a provider and nothing else', () => {
    const stage = defineStage({ ...valid, limits: { maxRecords: 90_000 }, providers: { geo: { ratePerSecond: 7 } } });
    const [company, geo] = providersOf(stage);
    const [defaultCompany, defaultGeo] = providersOf(defineStage(valid));
    expect(company).toEqual(defaultCompany);
    expect(geo).toEqual({ ...defaultGeo, ratePerSecond: 7 });
  });
});

describe('what can be finished within the contract', () => {
  const limits = { maxRecords: 100_000 };

  it('goes by the rate that a small burst leaves', () => {
    const stage = defineStage({ ...valid, limits, providers: { company: { ratePerSecond: 200, burst: 1 } } });
    // One call every 30 ms: 5 of the rate, 25 for what may be late.
    expect(clearableRecords(stage)).toEqual({ small: 60_000, bulk: 480_000 });
  });

  it('goes by the calls that a provider answers at the same time, where they are fewer', () => {
    const company = { ratePerSecond: 100, burst: 10, p99Ms: 500, maxConcurrentCalls: 40 };
    // 40 calls of a second each, which is twice the 99th percentile.
    expect(clearableRecords(defineStage({ ...valid, limits, providers: { company } }))).toEqual({
      small: 72_000,
      bulk: 576_000,
    });
  });
});

describe.each([dev, prod])('the stage $name', (stage) => {
  it('has a capacity that works', () => {
    expect(capacityOf(stage).functionTimeoutSeconds).toBeLessThanOrEqual(stage.worker.maxTimeoutSeconds);
  });
});

it('production keeps its data, development can be thrown away', () => {
  expect(prod.protection).toBe('retain');
  expect(dev.protection).toBe('destroy');
});
