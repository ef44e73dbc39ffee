import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { resolveProfile } from '../../../lambdas/domain/profiles/profile.ts';
import { rebuildMessages } from '../../../lambdas/domain/source/source.ts';
import { TERMS } from '../../support/factories.ts';
import { createFanOutRig } from '../../support/slices/fan-out-rig.ts';

const { mapping } = resolveProfile({ duplicates: 'reject_later' }, recordSchema);
const terms = { ...TERMS, mapping };
const LONG = 'x'.repeat(150);
/** Record 1 comes back as record 700, spelt with a blank; record 300 as record 301; others have an empty identifier. */
const idOf = (recordNo: number): string =>
  ({ 300: LONG, 301: LONG, 700: ' id-1', 5: '', 6: '' })[recordNo] ?? `id-${recordNo}`;
const FILE = `record_id,domain\n${Array.from({ length: 800 }, (_, index) => `${idOf(index + 1)},a.example\n`).join('')}`;

async function fannedOut(settings: { sliceMs?: number } = {}) {
  const rig = createFanOutRig({ settings: { checkpointRecords: 250, ...settings } });
  await rig.submit(FILE, { terms });
  await rig.run();
  return rig;
}
const duplicatesOf = (rig: Awaited<ReturnType<typeof fannedOut>>) =>
  rig.sent().flatMap(({ recordNo, content }) => (content.kind === 'defect' ? [{ recordNo, ...content }] : []));

describe('later records with the same identifier', () => {
  test('are refused where the profile says so, and name both lines', async () => {
    const rig = await fannedOut();
    expect(rig.sent()).toHaveLength(800);
    const found = duplicatesOf(rig).toSorted((a, b) => a.recordNo - b.recordNo);
    expect(found.map(({ recordNo, reason }) => [recordNo, reason])).toEqual([
      [301, 'duplicate_record_id'],
      [700, 'duplicate_record_id'],
    ]);
    expect(found[1]?.detail).toContain('line 701 has the same record_id as the one on line 2');
  });

  test('are the same in whatever slices the file is read, and when messages are rebuilt', async () => {
    const whole = await fannedOut();
    const sliced = await fannedOut({ sliceMs: 0 });
    expect(duplicatesOf(sliced)).toEqual(duplicatesOf(whole));
    const rebuilt = await rebuildMessages(whole.world, whole.stored(), 2, [699, 700]);
    expect(rebuilt.get(700)?.content).toEqual(whole.sent().find(({ recordNo }) => recordNo === 700)?.content);
    expect(rebuilt.get(699)?.content.kind).toBe('record');
  });

  test('are worked without that setting', async () => {
    const rig = createFanOutRig();
    await rig.submit(FILE, { terms: { ...TERMS, mapping: resolveProfile({}, recordSchema).mapping } });
    await rig.run();
    expect(duplicatesOf(rig)).toEqual([]);
  });
});
