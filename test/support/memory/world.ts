import type { SluiceQueues } from './queues.ts';
import type { AdmissionStore } from '../../../lambdas/domain/tenants/ports.ts';
import type { LedgerStore } from '../../../lambdas/domain/ledger/ports.ts';
import type { ProfileStore } from '../../../lambdas/domain/profiles/ports.ts';
import type { AnswerCache, ProviderStore } from '../../../lambdas/domain/providers/ports.ts';
import type { RecordStore } from '../../../lambdas/domain/records/ports.ts';
import type { SubmissionStore } from '../../../lambdas/domain/submissions/ports.ts';
import type { LedgerChunk, RecordRow, Submission } from '../../../lambdas/domain/model.ts';
import type { Clock, Random } from '../../../lambdas/domain/time.ts';
import { createMemoryAnswerCache } from './answer-cache.ts';
import { createMemoryAdmission } from './admission.ts';
import { createMemoryCredentials, type MemoryCredentials } from './credentials.ts';
import { intercept, noHook, type PortHook } from './hook.ts';
import { createMemoryLedger } from './ledger.ts';
import { createMemoryObjects, type MemoryObjectStore } from './objects.ts';
import { createMemoryProfiles } from './profiles.ts';
import { createMemoryProviders } from './providers.ts';
import { createQueues } from './queues.ts';
import { createMemoryRecords } from './records.ts';
import { createMemoryWebhooks, type MemoryWebhooks } from './webhooks.ts';
import { createMemorySubmissions } from './submissions.ts';
import { createMemoryTelemetry, type MemoryTelemetry } from './telemetry.ts';

/** Everything the domain talks to except HTTP, in memory, on one clock. */
export interface MemoryWorld {
  submissions: SubmissionStore;
  ledger: LedgerStore;
  records: RecordStore;
  providers: ProviderStore;
  answerCache: AnswerCache;
  admission: AdmissionStore;
  profiles: ProfileStore;
  webhooks: MemoryWebhooks;
  queues: SluiceQueues;
  objects: MemoryObjectStore;
  credentials: MemoryCredentials;
  telemetry: MemoryTelemetry;
  /** What is stored, read past the hook. */
  inspect: {
    submissions(): Submission[];
    ledger(submissionId: string): LedgerChunk[];
    records(submissionId: string): RecordRow[];
  };
  /** Deletes stored items, as somebody by hand. */
  lose: {
    ledger(submissionId: string, chunk: number): void;
    row(submissionId: string, recordNo: number): void;
  };
}

export interface MemoryWorldOptions {
  clock: Clock;
  /** Where given, queues deliver in any order. */
  random?: Random;
  /** Around every call of a port. */
  hook?: PortHook;
  maxReceiveCount?: number;
  /** Size of what an object read yields at a time. */
  pieceBytes?: number;
  /** Credentials by provider. */
  credentials?: Readonly<Record<string, string>>;
}

export function createMemoryWorld(options: MemoryWorldOptions): MemoryWorld {
  const { clock, hook = noHook } = options;
  const ledger = createMemoryLedger(clock);
  const records = createMemoryRecords(clock);
  const submissions = createMemorySubmissions(clock, (submissionId) => ledger.all(submissionId));
  const { pieceBytes } = options;
  return {
    submissions: intercept<SubmissionStore>('submissions', submissions, hook),
    ledger: intercept<LedgerStore>('ledger', ledger, hook),
    records: intercept<RecordStore>('records', records, hook),
    providers: intercept('providers', createMemoryProviders(), hook),
    answerCache: intercept('answerCache', createMemoryAnswerCache(clock), hook),
    admission: intercept('admission', createMemoryAdmission(), hook),
    profiles: intercept('profiles', createMemoryProfiles(), hook),
    webhooks: intercept('webhooks', createMemoryWebhooks(), hook, ['deliveries']),
    queues: createQueues({ ...options, hook }),
    objects: createMemoryObjects({ hook, ...(pieceBytes === undefined ? {} : { pieceBytes }) }),
    credentials: intercept('credentials', createMemoryCredentials(options.credentials), hook, ['rotate']),
    telemetry: createMemoryTelemetry(),
    inspect: {
      submissions: () => submissions.all(),
      ledger: (submissionId) => ledger.all(submissionId),
      records: (submissionId) => records.all(submissionId),
    },
    lose: { ledger: ledger.remove, row: records.remove },
  };
}
