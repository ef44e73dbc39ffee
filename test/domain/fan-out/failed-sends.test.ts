import type { SendFailure } from '../../../lambdas/domain/queues/ports.ts';
import { createFanOutRig, makeCsv, numbersOf, upTo, type FanOutRig } from '../../support/slices/fan-out-rig.ts';

/** A lane that answers failures for the sends that `failing` names, and takes the rest of each of those sends. */
function rigWithFailures(
  failing: (send: number, records: number) => SendFailure[],
  records = 1_200,
): {
  rig: FanOutRig;
  start: () => Promise<void>;
} {
  let sends = 0;
  const rig = createFanOutRig({
    settings: { checkpointRecords: 500, sendsInFlight: 1 },
    hook: async (call, apply) => {
      if (call.port !== 'queues.bulk' || call.method !== 'send') return apply();
      const messages = call.args[0] as readonly unknown[];
      const failures = failing(++sends, messages.length);
      const failed = new Set(failures.map(({ index }) => index));
      await apply([messages.filter((_, index) => !failed.has(index))]);
      return failures;
    },
  });
  return { rig, start: async () => rig.submit(makeCsv(records)) };
}

describe('messages that the queue does not take', () => {
  it('are sent again behind the last checkpoint, which did not pass them', async () => {
    const { rig, start } = rigWithFailures((send) =>
      send === 3 ? [{ index: 7, senderFault: false, code: 'InternalError' }] : [],
    );
    await start();

    await rig.slice();
    expect(rig.stored().fanOut).toMatchObject({ done: false, records: 500 });
    expect(rig.stored().fanOut.leaseOwner).toBeUndefined();
    expect(numbersOf(rig.sent())).not.toContain(508);

    const { failures } = await rig.run();
    expect(failures).toEqual([]);
    expect(numbersOf(rig.sent())).toEqual(upTo(1_200));
    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 1_200 });
  });

  it('become defects when they are themselves at fault, and the rest goes on', async () => {
    const { rig, start } = rigWithFailures((send) =>
      send === 2 ? [{ index: 0, senderFault: true, code: 'InvalidMessageContents' }] : [],
    );
    await start();

    await rig.run();

    expect(
      rig
        .sent()
        .map(({ recordNo }) => recordNo)
        .toSorted((a, b) => a - b),
    ).toEqual(upTo(1_200));
    expect(rig.sent().filter(({ content }) => content.kind === 'defect')).toMatchObject([
      { recordNo: 251, content: { reason: 'malformed_row', defect: 'UNSENDABLE' } },
    ]);
  });

  it('stop fan-out loudly when not even the defect is taken', async () => {
    const { rig, start } = rigWithFailures((_, records) =>
      records === 1 || records === 250 ? [{ index: 0, senderFault: true, code: 'InvalidMessageContents' }] : [],
    );
    await start();

    await expect(rig.slice()).rejects.toThrow('InvalidMessageContents');
    expect(rig.stored().fanOut).toMatchObject({ done: false, records: 0 });
  });
});
