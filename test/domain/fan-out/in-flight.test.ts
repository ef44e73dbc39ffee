import { InFlight } from '../../../lambdas/domain/fan-out/in-flight.ts';

/** Tasks that end when they are told to. */
function controlled(): { task: () => Promise<void>; finish: () => void; fail: (error: Error) => void } {
  let finish = (): void => {};
  let fail = (_error: Error): void => {};
  const ended = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { task: async () => ended, finish, fail };
}

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('tasks in flight', () => {
  it('are never more than the limit', async () => {
    const inFlight = new InFlight(2);
    let running = 0;
    let most = 0;
    for (let n = 0; n < 20; n++) {
      await inFlight.start(async () => {
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
      });
    }
    await inFlight.settle();
    expect({ most, running }).toEqual({ most: 2, running: 0 });
  });

  it('are all waited for before a failure is thrown', async () => {
    const inFlight = new InFlight(2);
    const [slow, failing] = [controlled(), controlled()];
    await inFlight.start(slow.task);
    await inFlight.start(failing.task);
    failing.fail(new Error('no'));
    let thrown: unknown;
    const settled = inFlight.settle().catch((error: unknown) => {
      thrown = error;
    });
    await turn();
    expect(thrown).toBeUndefined();
    slow.finish();
    await settled;
    expect(thrown).toEqual(new Error('no'));
  });

  it('are not joined by another once one has failed', async () => {
    const inFlight = new InFlight(2);
    const failing = controlled();
    await inFlight.start(failing.task);
    failing.fail(new Error('no'));
    await turn();
    let started = false;
    const start = inFlight.start(async () => {
      started = true;
    });
    await expect(start).rejects.toThrow('no');
    await inFlight.drain();
    expect(started).toBe(false);
  });
});
