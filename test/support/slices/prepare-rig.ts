import { createConverter } from '../../../lambdas/adapters/prepare/converter.ts';
import { fanOutSlice } from '../../../lambdas/domain/fan-out/fan-out-slice.ts';
import { PREPARE_DEFAULTS, prepareSlice, type PrepareDeps } from '../../../lambdas/domain/prepare/prepare-slice.ts';
import { parseFanOutMessage } from '../../../lambdas/domain/queues/messages.ts';
import type { PortHook } from '../memory/index.ts';
import { seededRandom } from '../memory/index.ts';
import { deliverAll } from './deliver.ts';
import { createFanOutRig, type FanOutRig } from './fan-out-rig.ts';

export interface PrepareRig extends FanOutRig {
  prepareDeps: PrepareDeps;
  /** Delivers messages of fan-out and prepare in turn until there are none. `around` is called with each slice of prepare. */
  drive(around?: (slice: () => Promise<void>) => Promise<void>): Promise<unknown[]>;
}

const budget = { remainingMs: () => 900_000 };

/** Fan-out and prepare over one world. */
export function createPrepareRig(options: { hook?: PortHook; pieceBytes?: number } = {}): PrepareRig {
  const rig = createFanOutRig(options);
  const { world, clock } = rig;
  const { prepare, fanOut } = world.queues.live;
  const prepareDeps: PrepareDeps = {
    submissions: world.submissions,
    objects: world.objects,
    converter: createConverter(world.objects),
    prepareQueue: prepare,
    fanOutQueue: fanOut,
    telemetry: world.telemetry,
    clock,
    random: seededRandom(2),
    settings: PREPARE_DEFAULTS,
  };
  return {
    ...rig,
    prepareDeps,
    async drive(around = async (slice) => slice()) {
      const failures: unknown[] = [];
      for (let worked = 1; worked > 0;) {
        const fannedOut = await deliverAll(fanOut, clock, async (body) =>
          fanOutSlice(rig.deps, parseFanOutMessage(body), budget),
        );
        const prepared = await deliverAll(prepare, clock, async (body) =>
          around(async () => prepareSlice(prepareDeps, parseFanOutMessage(body), budget)),
        );
        worked = fannedOut.deliveries + prepared.deliveries;
        failures.push(...fannedOut.failures, ...prepared.failures);
      }
      return failures;
    },
  };
}
