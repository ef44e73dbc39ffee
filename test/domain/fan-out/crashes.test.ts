import { jest } from '@jest/globals';
import { chunkOf } from '../../../lambdas/domain/model.ts';
import type { OutgoingMessage } from '../../../lambdas/domain/queues/ports.ts';
import { parseRecordMessage, type RecordMessage } from '../../../lambdas/domain/queues/messages.ts';
import { SUBMISSION_ID } from '../../support/factories.ts';
import type { PortCall } from '../../support/memory/index.ts';
import { createFaultPlan, FAULTS, type Fault } from '../../support/slices/faults.ts';
import { createFanOutRig, makeCsv, numbersOf, upTo, type FanOutRig } from '../../support/slices/fan-out-rig.ts';

// Every call of a run fails once in each way: many runs in one test.
jest.setTimeout(60_000);

const SETTINGS = { checkpointRecords: 250, smallLaneThreshold: 100 };
const PIECE_BYTES = 16_384;

const withoutTime = ({ firstEnqueuedAtMs: _time, ...rest }: RecordMessage): string => JSON.stringify(rest);

/** What an undisturbed fan-out of the file sends, by record number. */
async function undisturbed(file: string): Promise<Map<number, string>> {
  const rig = createFanOutRig({ settings: SETTINGS, pieceBytes: PIECE_BYTES });
  await rig.submit(file);
  await rig.run();
  return new Map(rig.sent().map((message) => [message.recordNo, withoutTime(message)]));
}

/** Fans a file out; the process that works the first slice meets `fault` at its call number `at`. */
async function disturbed(file: string, fault: Fault, at: number): Promise<{ rig: FanOutRig; struck: boolean }> {
  const sent = new Set<number>();
  const plan = createFaultPlan((call) => checkOrder(rig, sent, call));
  const rig = createFanOutRig({ settings: SETTINGS, hook: plan.hook, pieceBytes: PIECE_BYTES });
  await rig.submit(file);
  let slices = 0;
  await rig.run(async (slice) => (slices++ === 0 ? plan.process(slice, fault, at) : plan.process(slice)));
  return { rig, struck: plan.struck };
}

/** Nothing is checkpointed before it is sent, nothing of a chunk is sent before its start is noted, all in the decided lane. */
function checkOrder(rig: FanOutRig, sent: Set<number>, { port, method, args }: PortCall): void {
  if (method === 'checkpointFanOut' || method === 'completeFanOut') {
    const records = method === 'completeFanOut' ? Number(args[2]) : (args[2] as { records: number }).records;
    const missing = records > sent.size ? upTo(records).filter((recordNo) => !sent.has(recordNo)) : [];
    expect({ method, missing }).toEqual({ method, missing: [] });
  }
  if (method !== 'send' || (port !== 'queues.bulk' && port !== 'queues.small')) return;
  const noted = new Set(rig.world.inspect.ledger(SUBMISSION_ID).flatMap((chunk) => (chunk.start ? [chunk.chunk] : [])));
  const messages = (args[0] as readonly OutgoingMessage[]).map(({ body }) => parseRecordMessage(body));
  expect(messages.filter(({ recordNo }) => !noted.has(chunkOf(recordNo)))).toEqual([]);
  const { lane } = rig.stored();
  expect(port).toBe(`queues.${lane}`);
  expect(messages.filter((message) => message.lane !== lane)).toEqual([]);
  for (const { recordNo } of messages) sent.add(recordNo);
}

const FILES = {
  'a file of several checkpoints': makeCsv(520),
  'a small file': makeCsv(40),
  'a file without records': 'record_id\n',
};

describe.each(Object.entries(FILES))('fan-out of %s', (_, file) => {
  it.each(FAULTS)('loses and renumbers nothing when a call meets: %s', async (fault) => {
    const expected = await undisturbed(file);
    const records = expected.size;
    let at = 0;
    for (; ; at++) {
      const { rig, struck } = await disturbed(file, fault, at);
      const sent = rig.sent();
      expect({ at, numbers: numbersOf(sent) }).toEqual({ at, numbers: upTo(records) });
      expect(sent.filter((message) => withoutTime(message) !== expected.get(message.recordNo))).toEqual([]);
      expect(sent.length - records).toBeLessThanOrEqual(SETTINGS.checkpointRecords);
      expect({ at, fanOut: rig.stored().fanOut }).toMatchObject({ at, fanOut: { done: true, records } });
      expect(rig.stored().state).toBe(records === 0 ? 'finalizing' : 'processing');
      if (!struck) break;
    }
    // Otherwise the loop has tested nothing.
    expect(at).toBeGreaterThan(5);
  });
});

describe('rejection', () => {
  it.each(FAULTS)('happens once and clears the open work when a call meets: %s', async (fault) => {
    for (let at = 0; ; at++) {
      const { rig, struck } = await disturbed('record_id,record_id\n1,2\n', fault, at);
      expect({ at, state: rig.stored().state }).toEqual({ at, state: 'rejected' });
      expect(rig.sent()).toEqual([]);
      expect(await rig.world.admission.openWork(rig.stored().tenantId)).toEqual([]);
      if (!struck) break;
    }
  });
});
