import type { CompletionDeps } from '../ledger/settlement.ts';
import type { Lane, Submission } from '../model.ts';
import type { AdmissionStore } from '../tenants/ports.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { AcceptedSchemas } from '../submissions/schemas.ts';
import { SLICE_DEFAULTS, type SliceSettings } from '../submissions/slices.ts';
import type { Random } from '../time.ts';

export interface FanOutSettings extends SliceSettings {
  /** Files of up to this many records go to the small lane. */
  smallLaneThreshold: number;
  /** A file whose beginning is longer than this is not held back to decide its lane: it goes to the bulk lane. */
  smallLaneBytes: number;
  /** Records between two checkpoints, a multiple of a chunk: what a crash sends a second time. */
  checkpointRecords: number;
  /** Sends that run at the same time. */
  sendsInFlight: number;
}

/** What does not differ between stages. */
export const FAN_OUT_DEFAULTS = {
  ...SLICE_DEFAULTS,
  smallLaneThreshold: 500,
  smallLaneBytes: 8 * 1024 * 1024,
  checkpointRecords: 1_000,
  sendsInFlight: 4,
} satisfies Partial<FanOutSettings>;

export interface FanOutDeps extends CompletionDeps {
  ledger: LedgerStore;
  objects: ObjectStore;
  admission: AdmissionStore;
  lanes: Readonly<Record<Lane, QueueSender>>;
  fanOutQueue: QueueSender;
  prepareQueue: QueueSender;
  webhookQueue: QueueSender;
  schemas: AcceptedSchemas;
  random: Random;
  settings: FanOutSettings;
}

/** A submission whose fan-out lease is held by `owner`. */
export interface Claimed {
  deps: FanOutDeps;
  submission: Submission;
  owner: string;
}
