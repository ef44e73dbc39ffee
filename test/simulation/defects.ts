/** One deliberate defect: `find` occurs exactly once in `file` and is replaced by `by`. */
export interface Defect {
  name: string;
  file: string;
  find: string;
  by: string;
}

const worker = (file: string): string => `lambdas/domain/worker/${file}`;

/** What must not go unnoticed: each is a mistake that somebody could make, or a service's promise that the code relies on. */
export const DEFECTS: readonly Defect[] = [
  {
    name: 'acknowledge before anything is written',
    file: worker('process-batch.ts'),
    find: 'const { resolved, jobs } = await triage(deps, items);',
    by: 'await acknowledge(deps, deliveries, redeliver);\n  const { resolved, jobs } = await triage(deps, items);',
  },
  {
    name: 'mark the ledger before the row is written',
    file: 'lambdas/domain/ledger/settlement.ts',
    find: 'const written = await pLimit(PARALLEL_WRITES).map(rows',
    by: 'await accountFor(deps, rows);\n  const written = await pLimit(PARALLEL_WRITES).map(rows',
  },
  {
    name: 'count outcomes instead of keeping a set',
    file: 'test/support/memory/ledger.ts',
    find: 'for (const offset of marks.succeeded) stored.succeeded.add(offset);',
    by: 'for (let offset of marks.succeeded) { while (stored.succeeded.has(offset)) offset += 1; stored.succeeded.add(offset); }',
  },
  {
    name: 'checkpoint before everything is sent',
    file: 'lambdas/domain/fan-out/fan-out-slice.ts',
    find: 'await sender.settle();\n        const late',
    by: 'const late',
  },
  {
    name: 'ignore failed entries of a batch in fan-out',
    file: 'lambdas/domain/fan-out/chunk-sender.ts',
    find: 'const failure = failures[0];\n  if (!failure) return;',
    by: 'const failure = failures[0];\n  if (!failure || !failure.senderFault) return;',
  },
  {
    name: 'ignore failed entries of a batch in the worker',
    file: worker('complete.ts'),
    find: 'return failures.flatMap(({ index }) => sendings[index]?.item ?? []);',
    by: 'return failures.flatMap(() => []);',
  },
  {
    name: 'take the fan-out lease whoever has it',
    file: 'test/support/memory/submissions.ts',
    find: 'if (!isFree(stored.fanOut, owner, nowMs))',
    by: 'if (nowMs < 0)',
  },
  {
    name: 'count an attempt for a deferral',
    file: worker('resolution.ts'),
    find: 'const carry = nextMessage(job, job.message.attempt);\n  const retried',
    by: 'const carry = nextMessage(job, Math.min(5, job.message.attempt + 1));\n  const retried',
  },
  {
    name: 'reserve calls although the provider asked to wait',
    file: 'test/support/memory/providers.ts',
    find: ' && state.blockedUntilMs <= nowMs',
    by: '',
  },
  {
    name: 'start all calls at the first slot',
    file: 'lambdas/domain/providers/slots.ts',
    find: '(_, index) => firstSlotMs + index * interval',
    by: '() => firstSlotMs',
  },
  {
    name: 'ask every provider again on a retry',
    file: worker('enrich.ts'),
    find: 'if (Object.hasOwn(answers, config.name) || ',
    by: 'if (',
  },
  {
    name: 'let an older generation overwrite a row',
    file: 'test/support/memory/records.ts',
    find: 'stored.generation > row.generation ||',
    by: '',
  },
  {
    name: 'overwrite an outcome',
    file: 'test/support/memory/records.ts',
    find: '(stored.generation === row.generation && isTerminal(stored.state));',
    by: '(stored.generation === row.generation && stored.generation < 0 && isTerminal(stored.state));',
  },
  {
    name: 'write a row over what another writer bought',
    file: 'test/support/memory/records.ts',
    find: 'const merged = isNews ? mergeOver(row, stored) : row;',
    by: 'const merged = isNews && mergeOver(row, stored).attempts < 0 ? stored : row;',
  },
  {
    name: 'run isolated records together with others',
    file: worker('isolation.ts'),
    find: 'receivesOf(item) > 1 || wasReturnedUnprocessed || isCounted;',
    by: 'receivesOf(item) > 1_000 && wasReturnedUnprocessed && isCounted;',
  },
  {
    name: 'forget that a record was started alone before',
    file: worker('isolation.ts'),
    find: 'isolatedReceivesOf(job.row) + 1',
    by: '1',
  },
  {
    name: 'forget the crash of a record that is sent again',
    file: worker('isolation.ts'),
    find: 'receivesOf(item) > 1 || wasReturnedUnprocessed || isCounted;',
    by: 'receivesOf(item) > 1 || (wasReturnedUnprocessed && isCounted);',
  },
  {
    name: 'process a message that its submission does not know of',
    file: worker('triage.ts'),
    find: 'const mismatch = mismatchOf(message, submission);',
    by: 'const mismatch = mismatchOf(message, { ...submission, ...message, fanOut: { done: false, records: Infinity } });',
  },
  {
    name: 'notice a cancellation seconds late',
    file: worker('triage.ts'),
    find: 'if (isStopped(submission, message.generation)) return',
    by: 'if (isStopped(submission, message.generation) && nowMs - (submission.stop?.atMs ?? 0) > 3_000) return',
  },
  {
    name: 'start writes without the time to end them',
    file: worker('process-batch.ts'),
    find: 'budget.remainingMs() >= WRITE_RESERVE_MS }',
    by: 'WRITE_RESERVE_MS > 0 }',
  },
  {
    name: 'delete a dead letter before its replay is sent',
    file: 'lambdas/domain/redrive/dead-letters.ts',
    find: 'const isDone = (await handle(',
    by: 'if (!run.request.dryRun) await run.deps.deadLetters[lane].acknowledge([delivery]);\n      const isDone = (await handle(',
  },
  {
    name: 'write results without looking for open records',
    file: 'lambdas/domain/finalize/part.ts',
    find: 'if (openOffsets.length > 0) open.push({ chunk, openOffsets });',
    by: '',
  },
  {
    name: 'publish without input',
    file: 'lambdas/domain/finalize/part.ts',
    find: '(await inputs.take(size)).entries()',
    by: "(await inputs.take(size).catch(() => Array.from({ length: size }, (_, at): Input => ({ kind: 'record', fields: {}, recordNo: recordNoAt(chunk, at), line: 0, byteOffset: 0, endByteOffset: 0, endLine: 0 })))).entries()",
  },
  {
    name: 'believe a 403',
    file: 'lambdas/domain/source/unreadable-source.ts',
    find: 'if (error instanceof ObjectMissingError) {',
    by: "if (error instanceof ObjectMissingError || (error instanceof Error && error.name === 'DependencyMisconfiguredError')) {",
  },
  {
    name: 'never look for lost messages',
    file: 'lambdas/domain/reconcile/check-submission.ts',
    find: 'if (isLate) actions +=',
    by: 'if (isLate && actions < 0) actions +=',
  },
  {
    name: 'never relay what acceptance left behind',
    file: 'lambdas/domain/reconcile/check-submission.ts',
    find: 'if (submission.outboxPending) return relay(deps, submission);',
    by: 'if (submission.outboxPending) return 0;',
  },
  {
    name: 'charge records for an outage',
    file: 'lambdas/domain/providers/lookup-batch.ts',
    find: 'decision.isProvider &&\n    !(outcome',
    by: "decision.isProvider &&\n    outcome.kind !== 'transient' &&\n    !(outcome",
  },
  {
    name: 'believe a run of answers without data',
    file: 'lambdas/domain/providers/lookup-batch.ts',
    find: '!(isFinal(call) && evidence.isVerified(call))',
    by: '!isFinal(call)',
  },
  {
    name: 'ask nobody about answers without data',
    file: 'lambdas/domain/providers/outage.ts',
    find: 'isSuspected || evidence.isUnverified',
    by: 'isSuspected',
  },
  {
    name: 'believe one refused credential',
    file: 'lambdas/domain/providers/outage.ts',
    find: "  if (sign === 'found' ||",
    by: "  if (sign === 'found' && evidence.isCredentialRefused) return open(run, current, { kind: 'auth', detail: 'One record.' });\n  if (sign === 'found' ||",
  },
  {
    name: 'let one refusal for the rate stop everybody',
    file: 'lambdas/domain/providers/outage.ts',
    find: '  if (evidence.isThrottled) {\n',
    by: "  if (evidence.isThrottled) {\n    if (state.throttles >= 0) return throttleFleet(run, state, { kind: 'throttled', retryAfterMs: 600_000, detail: '' }, state);\n",
  },
  {
    name: 'ask again what the canary spoke for',
    file: 'lambdas/domain/providers/outage.ts',
    find: 'return answered(run, state, evidence);',
    by: 'return unconfirmed(run, current, evidence, isOutageSuspected);',
  },
  {
    name: 'close a cancelled file while workers hold its records',
    file: 'lambdas/domain/submissions/stop.ts',
    find: 'nowMs < stop.atMs + DRAIN_MS',
    by: 'nowMs < stop.atMs + 0 * DRAIN_MS',
  },
  {
    name: 'settle a stopped file but for its last chunk',
    file: 'lambdas/domain/ledger/settle-stopped.ts',
    find: 'Array.from({ length: chunkCount(records) }, (_, chunk) => {',
    by: 'Array.from({ length: chunkCount(records) - 1 }, (_, chunk) => {',
  },
  {
    name: 'parks what it does not know',
    file: worker('deliveries.ts'),
    find: "return error instanceof UnsupportedVersionError ? 'newer' : 'unreadable';",
    by: "return error instanceof UnsupportedVersionError ? 'unreadable' : 'unreadable';",
  },
  {
    name: "checks by today's schemas",
    file: worker('triage.ts'),
    find: 'await schemas.checksOf(submission?.terms ?? {})',
    by: 'await schemas.checksOf({})',
  },
  {
    name: "reads today's limits",
    file: 'lambdas/domain/source/source-reader.ts',
    find: 'const { maxRecordBytes, maxRecords, readerVersion } = submission.terms;',
    by: 'const { maxRecordBytes, maxRecords, readerVersion } = { ...submission.terms, maxRecordBytes: 65_536, maxRecords: 1_000_000 };',
  },
];
