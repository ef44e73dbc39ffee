import type { Submission } from '../model.ts';
import type {
  AdmissionStore,
  HttpTransport,
  LedgerStore,
  ObjectStore,
  QueueSender,
  RecordStore,
  SubmissionStore,
  Telemetry,
} from '../ports.ts';
import type { ProviderConfig } from '../providers.ts';
import { SLICE_DEFAULTS, type SliceSettings } from '../slices.ts';
import type { Clock, Random } from '../time.ts';
import type { FinalizeLease } from './lease.ts';
import { PART_CHUNKS } from './manifest.ts';

export interface FinalizeSettings extends SliceSettings {
  /** Chunks of one part of the results. {@link PART_CHUNKS}, except in tests. */
  partChunks: number;
  maxRecordBytes: number;
  /** Deliveries of a callback before it is given up. */
  callbackAttempts: number;
  /** One deadline over connect, headers and body of a callback. */
  callbackTimeoutMs: number;
}

/** What does not differ between stages. A part must fit into `reserveMs`: it is written whole or not at all. */
export const FINALIZE_DEFAULTS = {
  ...SLICE_DEFAULTS,
  reserveMs: 60_000,
  partChunks: PART_CHUNKS,
  callbackAttempts: 8,
  callbackTimeoutMs: 10_000,
} satisfies Partial<FinalizeSettings>;

export interface FinalizeDeps {
  submissions: SubmissionStore;
  ledger: LedgerStore;
  records: RecordStore;
  objects: ObjectStore;
  admission: AdmissionStore;
  finalizeQueue: QueueSender;
  callbacks: HttpTransport;
  providers: readonly Pick<ProviderConfig, 'name' | 'responseSchema'>[];
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
