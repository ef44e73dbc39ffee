import type { Submission } from '../model.ts';
import type { AdmissionStore } from '../tenants/ports.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { RecordStore } from '../records/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Telemetry } from '../telemetry.ts';
import type { AcceptedSchemas } from '../submissions/schemas.ts';
import { SLICE_DEFAULTS, type SliceSettings } from '../submissions/slices.ts';
import type { Clock, Random } from '../time.ts';
import type { FinalizeLease } from './lease.ts';
import { PART_CHUNKS } from './manifest.ts';
import type { PartTurns } from './part-turns.ts';

export interface FinalizeSettings extends SliceSettings {
  /** Chunks of one part of the results. {@link PART_CHUNKS}, except in tests. */
  partChunks: number;
  /** Chunks from which a part counts as large, see PartTurns. */
  largePartChunks: number;
  /** Large parts that one process writes at the same time: one of them calculates while another one waits for storage. */
  largePartsAtOnce: number;
}

/** What does not differ between stages. A part must fit into `reserveMs`: it is written whole or not at all. */
export const FINALIZE_DEFAULTS = {
  ...SLICE_DEFAULTS,
  reserveMs: 60_000,
  partChunks: PART_CHUNKS,
  largePartChunks: 20,
  largePartsAtOnce: 2,
} satisfies Partial<FinalizeSettings>;

export interface FinalizeDeps {
  submissions: SubmissionStore;
  ledger: LedgerStore;
  records: RecordStore;
  objects: ObjectStore;
  admission: AdmissionStore;
  finalizeQueue: QueueSender;
  webhookQueue: QueueSender;
  schemas: AcceptedSchemas;
  turns: PartTurns;
  telemetry: Telemetry;
  clock: Clock;
  random: Random;
  settings: FinalizeSettings;
}

/** A submission whose results are being written. */
export interface Finalizing {
  deps: FinalizeDeps;
  submission: Submission;
  lease: FinalizeLease;
  /** Of the results that are being written. */
  version: number;
}
