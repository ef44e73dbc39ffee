import { createPipeline, type Outcome } from '../support/pipeline.ts';
import { COMPANIES } from './corpus/corpus.ts';
import { CORPUS } from './corpus/index.ts';

/** What was checked and looked up. */
const usedOf = ({ succeeded }: Outcome) => succeeded.map(({ used, record }) => used ?? record);

test('the corpus has more than sixty files, each of them once', () => {
  expect(new Set(CORPUS.map(({ name }) => name)).size).toBe(CORPUS.length);
  expect(CORPUS.length).toBeGreaterThanOrEqual(60);
});

describe.each(CORPUS)('$name, as of $of', ({ name, bytes, profile, records, failed = [], rejected }) => {
  test('has every record right, or is refused for the reason that names the remedy', async () => {
    const outcome = await createPipeline().upload(bytes, name, profile ? { profile } : {});
    const { state, reason, message, counts } = outcome.submission;
    if (rejected) {
      expect([state, reason]).toEqual(['rejected', rejected[0]]);
      expect(message).toContain(rejected[1]);
      expect(outcome.lookups).toEqual([]);
      return;
    }
    const expected = records ?? COMPANIES;
    expect([message, outcome.failed.map(({ detail }) => detail)]).toEqual([
      undefined,
      failed.map(() => expect.any(String)),
    ]);
    expect(usedOf(outcome)).toEqual(expected.map((fields) => expect.objectContaining(fields)));
    expect(counts).toMatchObject({ succeeded: expected.length, failed: failed.length });
    for (const [index, [recordNo, line, why, detail]] of failed.entries()) {
      expect(outcome.failed[index]).toMatchObject({
        recordNo,
        line,
        reason: why,
        detail: expect.stringContaining(detail),
      });
    }
    const domains = expected.flatMap(({ domain }) => (domain ? [`/v1/companies/${domain}`] : []));
    expect(outcome.lookups.toSorted()).toEqual(expect.arrayContaining([...new Set(domains)]));
  });
});
