import { InvalidDataError } from '../../../lambdas/domain/errors.ts';
import {
  manifestKey,
  readManifest,
  resultKey,
  writeManifest,
  type Manifest,
} from '../../../lambdas/domain/finalize/manifest.ts';
import { makeSubmission, SUBMISSION_ID } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock } from '../../support/memory/index.ts';

const submission = makeSubmission({ state: 'complete', resultsVersion: 2 });
const file = { kind: 'succeeded', format: 'ndjson', part: 1 } as const;
const manifest: Manifest = {
  v: 1,
  submissionId: SUBMISSION_ID,
  version: 2,
  state: 'complete',
  createdAt: '2026-01-06T12:15:00.000Z',
  counts: { total: 1, succeeded: 1, failed: 0, cancelled: 0 },
  failures: {},
  files: [{ ...file, key: resultKey(submission, 2, file), records: 1, bytes: 9, sha256: 'a'.repeat(64) }],
};

describe('the manifest of results', () => {
  it('is read as it was written, under the version of the newest results', async () => {
    const { objects } = createMemoryWorld({ clock: createTestClock() });
    await writeManifest(objects, submission, manifest);
    expect(objects.keys()).toEqual([`results/acme/${SUBMISSION_ID}/v2/manifest.json`]);
    expect(manifest.files[0]?.key).toBe(`results/acme/${SUBMISSION_ID}/v2/succeeded-00001.ndjson`);
    expect(await readManifest(objects, submission)).toEqual(manifest);
  });

  it('is not there before there are results', async () => {
    const { objects } = createMemoryWorld({ clock: createTestClock() });
    expect(await readManifest(objects, submission)).toBeUndefined();
    expect(await readManifest(objects, makeSubmission())).toBeUndefined();
  });

  it.each([
    ['its root', 'not JSON'],
    ['version', JSON.stringify({ ...manifest, version: 0 })],
    ['failures', JSON.stringify({ ...manifest, failures: { 'made up': 1 } })],
    ['files.0.sha256', JSON.stringify({ ...manifest, files: [{ ...manifest.files[0], sha256: 'x' }] })],
  ])('is refused with the place that is wrong: %s', async (place, text) => {
    const { objects } = createMemoryWorld({ clock: createTestClock() });
    objects.seed(manifestKey(submission, 2), text);
    const read = readManifest(objects, submission);
    await expect(read).rejects.toThrow(InvalidDataError);
    await expect(read).rejects.toThrow(place);
  });
});
