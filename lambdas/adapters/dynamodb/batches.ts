import pLimit from 'p-limit';
import { backoffMs } from '../backoff.ts';
import { awsErrorFacts, classify, knownClass, refusalOf, type AwsCall } from '../aws-errors.ts';
import type { Refusal } from '../../domain/errors.ts';
import type { Clock } from '../../domain/time.ts';

/** One entry of a batch request that was not done. */
export interface EntryFailure {
  /** Position in what was given to {@link inBatches}. */
  index: number;
  /** True when the entry itself is at fault: no repetition will help. */
  senderFault: boolean;
  code: string;
  /** What a person must allow or correct first. */
  refused?: Refusal;
}

/** What a batch request answered, by the ids of its entries. */
export interface BatchAnswer {
  succeeded: readonly string[];
  failed: readonly { id: string; code: string; senderFault: boolean }[];
}

export interface BatchRun {
  call: AwsCall;
  /** Entries to begin with. */
  indices: readonly number[];
  /** Divides entries into requests that keep the service's limits. */
  pack(indices: readonly number[]): number[][];
  /** Sends one request; an entry's id is its index. */
  send(indices: readonly number[]): Promise<BatchAnswer>;
  clock: Clock;
}

const PARALLEL_REQUESTS = 4;
/** Rounds in which failed entries are sent, each after a wait. The SDK repeats whole requests by itself within a round. */
const MAX_ROUNDS = 3;

/**
 * Runs a batch operation to its end: a batch request answers 200 and lists what failed, so exactly those entries are sent
 * again (unless they are at fault themselves), and a request that one entry spoils is sent entry by entry. Answers what
 * could not be done in the end, in order.
 */
export async function inBatches(run: BatchRun): Promise<EntryFailure[]> {
  const lost: EntryFailure[] = [];
  let pending = run.pack(run.indices);
  for (let round = 0; round < MAX_ROUNDS && pending.length > 0; round++) {
    await run.clock.sleep(round === 0 ? 0 : backoffMs(round));
    const again: number[] = [];
    const alone: number[][] = [];
    const isLast = round === MAX_ROUNDS - 1;
    await pLimit(PARALLEL_REQUESTS).map(pending, async (indices) => {
      const outcome = await sendOne(run, indices);
      alone.push(...outcome.alone);
      for (const failure of outcome.failures) {
        if (failure.senderFault || outcome.gaveUp || isLast) lost.push(failure);
        else again.push(failure.index);
      }
    });
    pending = [...run.pack(again), ...alone];
    if (isLast) lost.push(...alone.flat().map((index) => ({ index, senderFault: false, code: 'NotSent' })));
  }
  return lost.toSorted((a, b) => a.index - b.index);
}

interface Outcome {
  failures: EntryFailure[];
  /** Requests of one entry each, instead of the one that an entry spoiled. */
  alone: number[][];
  /** Repeating it here does not help: the failures are answered to the caller. */
  gaveUp: boolean;
}

async function sendOne(run: BatchRun, indices: readonly number[]): Promise<Outcome> {
  try {
    return { failures: failuresOf(run.call, indices, await run.send(indices)), alone: [], gaveUp: false };
  } catch (error) {
    const facts = awsErrorFacts(error);
    if (facts === undefined) throw error;
    const means = classify(run.call.service, facts);
    // One of the entries caused it.
    const senderFault = means === 'final';
    if (senderFault && indices.length > 1) {
      return { failures: [], alone: indices.map((index) => [index]), gaveUp: false };
    }
    const refused = means === 'ours' ? { refused: refusalOf(error, run.call) } : {};
    const failures = indices.map((index) => ({ index, senderFault, code: facts.name, ...refused }));
    // A refusal stays one, and what did not answer took long enough.
    return { failures, alone: [], gaveUp: means === 'ours' || facts.status === undefined };
  }
}

function failuresOf(call: AwsCall, indices: readonly number[], answer: BatchAnswer): EntryFailure[] {
  const succeeded = new Set(answer.succeeded);
  const failed = new Map(answer.failed.map((entry) => [entry.id, entry]));
  return indices.flatMap((index) => {
    const entry = failed.get(String(index));
    if (entry !== undefined) {
      const means = knownClass(call.service, entry.code);
      return {
        index,
        // SQS flags a throttled entry as the sender's fault, too.
        senderFault: entry.senderFault && means !== 'passing' && means !== 'ours',
        code: entry.code,
        ...(means === 'ours' && { refused: refusalOf(undefined, call) }),
      };
    }
    // An entry that is in neither list is not known to be done.
    return succeeded.has(String(index)) ? [] : { index, senderFault: false, code: 'NoAnswer' };
  });
}
