import { parseRecordMessage, encodeBody } from '../../../lambdas/domain/queues/messages.ts';
import { chunkOf } from '../../../lambdas/domain/model.ts';
import { dialectOf, rebuildMessages } from '../../../lambdas/domain/source/source.ts';
import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import { UnsupportedVersionError } from '../../../lambdas/domain/versions.ts';
import { SUBMISSION_ID, TERMS } from '../../support/factories.ts';
import { createFanOutRig, makeCsv, SOURCE_KEY, upTo, type FanOutRig } from '../../support/slices/fan-out-rig.ts';

async function fannedOut(file: string, format: 'csv' | 'ndjson' | 'json' = 'csv'): Promise<FanOutRig> {
  const rig = createFanOutRig();
  await rig.submit(file, { format });
  await rig.run();
  return rig;
}

const sentContents = (rig: FanOutRig, recordNos: readonly number[]) =>
  new Map(
    rig
      .sent()
      .filter(({ recordNo }) => recordNos.includes(recordNo))
      .map(({ recordNo, content, line }) => [recordNo, { content, line }]),
  );

describe('rebuilding messages from the source', () => {
  const rows = upTo(1_100).map((n) => (n % 100 === 3 ? '{broken' : JSON.stringify({ record_id: `r${n}`, n })));
  it.each([
    ['csv', `${makeCsv(1_100)}too,many,cells,here\n`],
    ['ndjson', `${rows.join('\n')}\n\n`],
    [
      'json',
      `[ ${upTo(1_101)
        .map((n) => JSON.stringify({ record_id: `r${n}` }))
        .join(' ,\r\n')} ]`,
    ],
  ] as const)('gives what fan-out sent, in every chunk of a %s file', async (format, file) => {
    const rig = await fannedOut(file, format);
    for (const chunk of [0, 1, 4]) {
      const wanted = [1, 2, 3, 77, 100, 101, 250].map((offset) => chunk * 250 + offset);
      const rebuilt = await rebuildMessages(rig.world, rig.stored(), chunk, wanted);
      expect(rebuilt).toEqual(sentContents(rig, wanted));
      for (const [recordNo, { content, line }] of rebuilt) {
        const sent = rig.sent().find((message) => message.recordNo === recordNo);
        expect(parseRecordMessage(encodeBody({ ...sent, content, line }))).toEqual(sent);
      }
    }
  });

  it('reads no further than its chunk', async () => {
    let blocks = 0;
    const rig = createFanOutRig({
      pieceBytes: 1_000,
      hook: async (call, apply) => {
        const result = await apply();
        return call.method === 'read' ? counted(result as AsyncIterable<Uint8Array>) : result;
      },
    });
    async function* counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const block of source) {
        blocks += 1;
        yield block;
      }
    }
    await rig.submit(makeCsv(1_200));
    await rig.run();
    blocks = 0;
    const submission = rig.stored();

    await rebuildMessages(rig.world, submission, 2, [501, 503]);

    expect(submission.fanOut.dialect).toBeDefined();
    expect(blocks).toBeLessThanOrEqual(8);
  });

  it('finds a chunk whose start was not noted', async () => {
    const rig = await fannedOut(makeCsv(1_100));
    const hidden: typeof rig.world.ledger = {
      ...rig.world.ledger,
      get: async (submissionId, chunk) => (chunk >= 2 ? undefined : rig.world.ledger.get(submissionId, chunk)),
    };
    const wanted = [1_001, 1_100];
    const rebuilt = await rebuildMessages({ ...rig.world, ledger: hidden }, rig.stored(), 4, wanted);
    expect(rebuilt).toEqual(sentContents(rig, wanted));
  });

  it('makes nothing of a source that was read and is gone', async () => {
    const rig = await fannedOut(makeCsv(600));
    rig.world.objects.delete(SOURCE_KEY);
    const rebuilding = rebuildMessages(rig.world, rig.stored(), chunkOf(300), [300, 301, 500]);
    await expect(rebuilding).rejects.toThrow(/cannot be read again from .* \(FILE_MISSING\): restore the object\.$/);
  });

  it('makes records of a source that was never read to the end of their chunk defects that say so', async () => {
    const rig = await fannedOut(makeCsv(600));
    const { ledger } = rig.world;
    const unread: typeof ledger = {
      ...ledger,
      get: async (submissionId, chunk) => {
        const { start, ...item } = (await ledger.get(submissionId, chunk))!;
        return { ...item, start: { byteOffset: start!.byteOffset, line: start!.line } };
      },
    };
    rig.world.objects.delete(SOURCE_KEY);
    const rebuilt = await rebuildMessages(
      { ...rig.world, ledger: unread },
      rig.stored(),
      chunkOf(300),
      [300, 301, 500],
    );
    expect([...rebuilt.keys()]).toEqual([300, 301, 500]);
    expect(rebuilt.get(500)?.content).toMatchObject({ kind: 'defect', defect: 'FILE_MISSING' });
  });

  it('gives the defect that ended an unreadable file its own number only', async () => {
    const rig = await fannedOut(`${makeCsv(600)}c-601,"open`);
    const rebuilt = await rebuildMessages(rig.world, rig.stored(), 2, [600, 601]);
    expect(rebuilt).toEqual(sentContents(rig, [600, 601]));
    expect(rebuilt.get(601)?.content).toMatchObject({ defect: 'UNTERMINATED_QUOTE' });
  });

  it('waits for a newer version where only its reader cuts the file as it was accepted', async () => {
    const rig = await fannedOut(makeCsv(10));
    const accepted = { ...rig.stored(), terms: { ...TERMS, readerVersion: READER_VERSION + 1 } };
    await expect(rebuildMessages(rig.world, accepted, 0, [1])).rejects.toThrow(UnsupportedVersionError);
  });

  it('goes by the limits that the file was accepted under', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(1_000), { terms: { ...TERMS, maxRecordBytes: 5, maxRecords: 700 } });
    await rig.run();
    const rebuilt = await rebuildMessages(rig.world, rig.stored(), 2, [700, 701]);
    expect(rebuilt).toEqual(sentContents(rig, [700, 701]));
    expect(rebuilt.get(700)?.content).toMatchObject({ kind: 'defect', reason: 'record_too_large' });
  });

  it('answers nothing for no record', async () => {
    const rig = await fannedOut(makeCsv(10));
    expect(await rebuildMessages(rig.world, rig.stored(), 0, [])).toEqual(new Map());
  });
});

describe('the dialect of a source', () => {
  it('is found again where fan-out did not store it', async () => {
    const rig = await fannedOut('record_id;name\nr1;Ada\n');
    expect(rig.stored().fanOut.dialect).toBeUndefined();
    expect(await dialectOf(rig.world, rig.stored())).toEqual({ delimiter: ';', header: ['record_id', 'name'] });
  });

  it('is undefined for other formats and for a source that is gone', async () => {
    const json = await fannedOut('[]', 'json');
    expect(await dialectOf(json.world, json.stored())).toBeUndefined();
    const csv = await fannedOut(makeCsv(1));
    csv.world.objects.delete(SOURCE_KEY);
    expect(await dialectOf(csv.world, csv.stored())).toBeUndefined();
    expect(csv.stored().submissionId).toBe(SUBMISSION_ID);
  });
});
