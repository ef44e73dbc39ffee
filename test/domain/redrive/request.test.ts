import { parseRedriveRequest, RedriveRequestError } from '../../../lambdas/domain/redrive/request.ts';

const parse = (event: unknown) => parseRedriveRequest(event, ['company', 'geo']);

describe('a request', () => {
  it('is a dry run unless it says otherwise', () => {
    expect(parse({ submissionId: 'sub_1' })).toMatchObject({ dryRun: true, mode: 'records', force: false });
  });

  it('takes one reason or several, and times as ISO 8601', () => {
    expect(parse({ reason: 'attempts_exhausted' }).reason).toEqual(['attempts_exhausted']);
    expect(parse({ reason: ['provider_rejected', 'worker_crashed'] }).reason).toEqual([
      'provider_rejected',
      'worker_crashed',
    ]);
    expect(parse({ reason: 'of_a_newer_version' }).reason).toEqual(['of_a_newer_version']);
    expect(parse({ finishedAfter: '2026-01-06T12:00:00Z' }).finishedAfter).toBe(Date.UTC(2026, 0, 6, 12));
  });

  it.each([
    [{ submissionID: 'sub_1' }, 'There is no field submissionID: the fields are mode, submissionId'],
    [{ reason: 'Broken!' }, 'reason is "Broken!": set one or a list of invalid_record'],
    [{ lane: 'fast' }, 'lane is "fast": set small or bulk.'],
    [{ submissionId: 'sub_1', dryRun: 'no' }, 'dryRun is "no": set true or false.'],
    [{ submissionId: 'sub_1', limit: 0 }, 'limit is 0: set a whole number from 1 to 1000000.'],
    [{ finishedAfter: 'yesterday' }, 'finishedAfter is "yesterday": set a time like 2026-01-31T12:00:00Z.'],
    [{ tenantId: 'Acme Ltd' }, 'tenantId is "Acme Ltd": set the id of a tenant.'],
    [{ provider: 'weather' }, 'provider is "weather": use one of company, geo.'],
    [{ mode: 'give_up' }, 'mode is "give_up": set submissionId, and no other selector.'],
    [{ mode: 'give_up', submissionId: 'sub_1', lane: 'bulk' }, 'mode is "give_up": set submissionId, and no other'],
    [{}, 'Nothing is selected: set at least one of submissionId'],
    ['all', 'The event is "all": send a JSON object'],
    [null, 'The event is null: send a JSON object'],
  ])('that cannot be understood names the field, its value and what is allowed: %j', (event, sentence) => {
    expect(() => parse(event)).toThrow(RedriveRequestError);
    expect(() => parse(event)).toThrow(sentence);
  });
});
