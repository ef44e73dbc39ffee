import { chunkCount, isOpen, type LedgerChunk, type Submission } from '../../../lambdas/domain/model.ts';
import type { SchemaSet } from '../../../lambdas/domain/submissions/schemas.ts';
import type { Claim, SubmissionStore } from '../../../lambdas/domain/submissions/ports.ts';
import type { Clock } from '../../../lambdas/domain/time.ts';
import { createSubmissionTable, dropCheckWhenClosed, isFree, mustOwn, pageOf, renew } from './submission-table.ts';

export interface MemorySubmissionStore extends SubmissionStore {
  /** Every unexpired submission, for checks. */
  all(): Submission[];
}

const CHECK_AFTER_REOPEN_MS = 60_000;

/** @param ledgerOf - Reads the ledger items that a query of the submission returns with its head. */
const chunkNumbers = (records: number): number[] => Array.from({ length: chunkCount(records) }, (_, chunk) => chunk);

export function createMemorySubmissions(
  clock: Clock,
  ledgerOf: (submissionId: string) => LedgerChunk[],
): MemorySubmissionStore {
  const table = createSubmissionTable(clock);
  const schemas = new Map<string, SchemaSet>();
  const visible = (submission: Submission): Submission => table.visible(submission);

  const touch = (submission: Submission, nowMs: number): void => {
    submission.updatedAtMs = nowMs;
    submission.progressAtMs = nowMs;
  };
  const progressTime = (lease: { nowMs: number } | 'release'): number =>
    lease === 'release' ? clock.now() : lease.nowMs;
  const newestFirst = (a: Submission, b: Submission): number =>
    b.createdAtMs - a.createdAtMs || (a.submissionId < b.submissionId ? 1 : -1);
  const checkedFirst = (a: Submission, b: Submission): number =>
    (a.nextCheckAtMs ?? 0) - (b.nextCheckAtMs ?? 0) || (a.submissionId < b.submissionId ? -1 : 1);
  const indexed = (): Submission[] =>
    table
      .all()
      .filter(({ state, nextCheckAtMs }) => isOpen(state) && nextCheckAtMs !== undefined)
      .toSorted(checkedFirst);
  const claimed = (submission: Submission): Claim => ({ outcome: 'claimed', submission: visible(submission) });

  return {
    all: () => table.all().map(visible),
    async create(submission) {
      const existing = table.find(submission.submissionId);
      if (existing === undefined) table.put(submission);
      return { created: existing === undefined, stored: visible(table.require(submission.submissionId)) };
    },
    async get(submissionId) {
      const stored = table.find(submissionId);
      return stored && visible(stored);
    },
    async getWithLedger(submissionId) {
      const stored = table.find(submissionId);
      return stored && { submission: visible(stored), ledger: ledgerOf(submissionId) };
    },
    async ledgerPage(submissionId, { from, limit }) {
      const left = ledgerOf(submissionId).filter(({ chunk }) => chunk >= from);
      const chunks = left.slice(0, limit);
      const last = chunks.at(-1);
      return { chunks, ...(chunks.length < left.length && last && { next: last.chunk + 1 }) };
    },
    async keepSchemas(hash, set) {
      if (!schemas.has(hash)) schemas.set(hash, structuredClone(set));
    },
    async getSchemas(hash) {
      return structuredClone(schemas.get(hash));
    },
    async listByTenant({ tenantId, state, ...page }) {
      const matching = table
        .all()
        .filter(
          (submission) => submission.tenantId === tenantId && (state === undefined || submission.state === state),
        );
      return { ...pageOf(matching.toSorted(newestFirst).map(visible), tenantId, page), unreadable: [] };
    },
    async listAll(page) {
      return { ...pageOf(table.all().map(visible), 'all', page), unreadable: [] };
    },
    async listDue({ nowMs, limit }) {
      return indexed()
        .filter(({ nextCheckAtMs }) => (nextCheckAtMs ?? 0) <= nowMs)
        .slice(0, limit)
        .map(visible);
    },
    async listOpen(page) {
      return { ...pageOf(indexed().map(visible), 'open', page), unreadable: [] };
    },
    async markRelayed(submissionId) {
      const stored = table.find(submissionId);
      if (stored) stored.outboxPending = false;
    },
    async scheduleCheck(submissionId, nextCheckAtMs) {
      const stored = table.find(submissionId);
      if (stored && isOpen(stored.state)) stored.nextCheckAtMs = nextCheckAtMs;
    },

    async claimFanOut({ submissionId, owner, nowMs, leaseMs }) {
      const stored = table.find(submissionId);
      if (stored === undefined) return { outcome: 'missing' };
      if (stored.fanOut.done || !isOpen(stored.state) || stored.state === 'finalizing') {
        return { outcome: 'over', submission: visible(stored) };
      }
      if (!isFree(stored.fanOut, owner, nowMs))
        return { outcome: 'busy', untilMs: stored.fanOut.leaseUntilMs ?? nowMs };
      Object.assign(stored.fanOut, { leaseOwner: owner, leaseUntilMs: nowMs + leaseMs });
      if (stored.state === 'accepted') stored.state = 'processing';
      stored.updatedAtMs = nowMs;
      return claimed(stored);
    },
    async decideLane(submissionId, owner, lane) {
      const stored = table.require(submissionId);
      mustOwn(stored.fanOut, owner, submissionId);
      stored.lane ??= lane;
      return stored.lane;
    },
    async checkpointFanOut(submissionId, owner, progress, lease) {
      const stored = table.require(submissionId);
      mustOwn(stored.fanOut, owner, submissionId);
      if (stored.fanOut.done || progress.byteOffset < stored.fanOut.byteOffset) return visible(stored);
      Object.assign(stored.fanOut, structuredClone(progress));
      renew(stored.fanOut, lease);
      touch(stored, progressTime(lease));
      return visible(stored);
    },
    async setPrepared(submissionId, owner, prepared, nowMs) {
      const stored = table.require(submissionId);
      mustOwn(stored.fanOut, owner, submissionId);
      if (stored.lane !== undefined) return visible(stored);
      stored.prepared = structuredClone(prepared);
      renew(stored.fanOut, 'release');
      touch(stored, nowMs);
      return visible(stored);
    },
    async completeFanOut(submissionId, owner, records, nowMs) {
      const stored = table.require(submissionId);
      mustOwn(stored.fanOut, owner, submissionId);
      if (stored.fanOut.done) return visible(stored);
      Object.assign(stored.fanOut, { done: true, records });
      renew(stored.fanOut, 'release');
      touch(stored, nowMs);
      return visible(stored);
    },
    async reject(submissionId, owner, rejection, nowMs) {
      const stored = table.require(submissionId);
      mustOwn(stored.fanOut, owner, submissionId);
      const nothingSent = !stored.fanOut.done && stored.lane === undefined && stored.fanOut.records === 0;
      if (!isOpen(stored.state) || !nothingSent) return visible(stored);
      Object.assign(stored, { state: 'rejected', rejection: { ...rejection } });
      renew(stored.fanOut, 'release');
      touch(stored, nowMs);
      dropCheckWhenClosed(stored);
      return visible(stored);
    },

    async closeChunks(submissionId, chunks, nowMs) {
      const stored = table.require(submissionId);
      if (chunks.length === 0) return visible(stored);
      stored.closedChunks = new Set([...stored.closedChunks, ...chunks]);
      touch(stored, nowMs);
      return visible(stored);
    },
    async beginFinalizing(submissionId, chunks, nowMs) {
      const stored = table.find(submissionId);
      const working = stored?.state === 'processing' || stored?.state === 'cancelling';
      if (!stored || !working || !stored.fanOut.done || stored.closedChunks.size !== chunks) return false;
      Object.assign(stored, { state: 'finalizing', finalize: { nextPart: 1, partAtMs: nowMs } });
      touch(stored, nowMs);
      return true;
    },
    async claimFinalize({ submissionId, owner, nowMs, leaseMs }) {
      const stored = table.find(submissionId);
      if (stored === undefined) return { outcome: 'missing' };
      if (stored.state !== 'finalizing') return { outcome: 'over', submission: visible(stored) };
      const finalize = stored.finalize ?? { nextPart: 1 };
      if (!isFree(finalize, owner, nowMs)) return { outcome: 'busy', untilMs: finalize.leaseUntilMs ?? nowMs };
      stored.finalize = { ...finalize, leaseOwner: owner, leaseUntilMs: nowMs + leaseMs };
      stored.updatedAtMs = nowMs;
      return claimed(stored);
    },
    async checkpointFinalize(submissionId, owner, { nextPart, partAtMs }, lease) {
      const stored = table.require(submissionId);
      mustOwn(stored.finalize, owner, submissionId);
      if (stored.state !== 'finalizing' || !stored.finalize || nextPart < stored.finalize.nextPart)
        return visible(stored);
      stored.finalize.nextPart = nextPart;
      if (partAtMs !== undefined) stored.finalize.partAtMs = partAtMs;
      renew(stored.finalize, lease);
      touch(stored, progressTime(lease));
      return visible(stored);
    },
    async finish(submissionId, owner, end) {
      const stored = table.require(submissionId);
      mustOwn(stored.finalize, owner, submissionId);
      if (stored.state !== 'finalizing' || !stored.finalize) return visible(stored);
      Object.assign(stored, {
        state: end.state,
        resultsVersion: end.resultsVersion,
        finalCounts: structuredClone(end.counts),
      });
      stored.closedChunks = new Set();
      renew(stored.finalize, 'release');
      touch(stored, end.nowMs);
      dropCheckWhenClosed(stored);
      return visible(stored);
    },
    async finishWithoutResults(submissionId, owner, rejection, nowMs) {
      const stored = table.require(submissionId);
      mustOwn(stored.finalize, owner, submissionId);
      if (stored.state !== 'finalizing' || !stored.finalize) return visible(stored);
      Object.assign(stored, { state: 'rejected', rejection: { ...rejection } });
      renew(stored.finalize, 'release');
      touch(stored, nowMs);
      dropCheckWhenClosed(stored);
      return visible(stored);
    },

    async giveUpResults(submissionId, generation) {
      const stored = table.find(submissionId);
      if (stored?.state !== 'finalizing' || stored.generation !== generation) return false;
      stored.givenUpGeneration = generation;
      return true;
    },
    async requestStop(submissionId, stop) {
      const stored = table.find(submissionId);
      if (stored === undefined) return undefined;
      if (!isOpen(stored.state) || stored.stop !== undefined) return visible(stored);
      stored.stop = { ...stop };
      if (stop.kind === 'cancelled' && stored.state !== 'finalizing') stored.state = 'cancelling';
      stored.updatedAtMs = stop.atMs;
      return visible(stored);
    },
    async reopen(submissionId, { chunks, generation, nowMs, deadlineAtMs }) {
      const stored = table.require(submissionId);
      if (stored.state === 'rejected' || generation < stored.generation) return visible(stored);
      const reopened = new Set(chunks);
      const closed = isOpen(stored.state) ? [...stored.closedChunks] : chunkNumbers(stored.fanOut.records);
      stored.closedChunks = new Set(closed.filter((chunk) => !reopened.has(chunk)));
      if (generation > stored.generation && !isOpen(stored.state)) {
        if (stored.stop !== undefined) stored.stoppedGeneration = stored.generation;
        delete stored.stop;
      }
      Object.assign(stored, { state: 'processing', generation, nextCheckAtMs: nowMs + CHECK_AFTER_REOPEN_MS });
      stored.deadlineAtMs = Math.max(stored.deadlineAtMs, deadlineAtMs);
      delete stored.finalize;
      touch(stored, nowMs);
      return visible(stored);
    },
  };
}
