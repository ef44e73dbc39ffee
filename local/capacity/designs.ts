import type { Usage } from './usage.ts';

/*
 * Three ways to do the same work, as what AWS bills for a million records: two provider calls each, one outcome row each, results as
 * files. Ours is counted by `npm run bench -- ops`; the other two are arithmetic that their comments spell out.
 */

const MILLION = 1_000_000;
const BYTES_A_GB = 1e9;

/** What is billed for one succeeded record, a share of everything around it included. */
export interface PerRecord {
  readonly sqsRequests: number;
  /** Those of them that send a message with a group. */
  readonly sqsFairRequests: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly s3Puts: number;
  readonly s3Gets: number;
  readonly lambdaRequests: number;
  /** Of fan-out, finalizer and API; the workers' follow from capacity, see {@link workerGbSeconds}. */
  readonly otherGbSeconds: number;
  readonly logBytes: number;
}

/** What the comparison assumes, the same for every design. */
export interface Assumptions {
  /** Usual time of one provider call, milliseconds. */
  readonly callMs: number;
  /** Calls of one record, one provider after the other. */
  readonly calls: number;
  readonly memoryGb: number;
  /** Time of everything but the calls in an invocation for one record, milliseconds. */
  readonly overheadMs: number;
}

export const ASSUMPTIONS: Assumptions = { callMs: 300, calls: 2, memoryGb: 0.5, overheadMs: 50 };

export interface Design {
  readonly name: string;
  readonly perMillion: Usage;
}

/**
 * GB-seconds of the workers for one record while a backlog keeps them all busy: they wait for slots, so their number, memory
 * and the pace decide and not the answer time. One lane is busy, as in a burst.
 */
export const workerGbSeconds = (workersOfLane: number, memoryGb: number, pacePerSecond: number): number =>
  (workersOfLane * memoryGb) / pacePerSecond;

/** Sluice: batches at every step, one row per record, counters as sets per chunk of 250. */
export const sluice = (each: PerRecord, workerSeconds: number): Design => ({
  name: 'Sluice',
  perMillion: {
    sqsRequest: each.sqsRequests * MILLION,
    sqsFairRequest: each.sqsFairRequests * MILLION,
    dynamoWrite: each.writeUnits * MILLION,
    dynamoRead: each.readUnits * MILLION,
    s3Put: each.s3Puts * MILLION,
    s3Get: each.s3Gets * MILLION,
    lambdaRequest: each.lambdaRequests * MILLION,
    lambdaGbSecond: (each.otherGbSeconds + workerSeconds) * MILLION,
    logGb: (each.logBytes * MILLION) / BYTES_A_GB,
  },
});

const recordGbSeconds = ({ calls, callMs, overheadMs, memoryGb }: Assumptions): number =>
  ((calls * callMs + overheadMs) / 1_000) * memoryGb;

/**
 * One message and one invocation per record, everything written when it happens: sent, received and deleted one by one (3 requests, the
 * send with a group); a row written as pending, as processing and as done (3 units); a counter on the submission (1 unit); a slot
 * reserved per call (2 units); one result object per record; 600 bytes of log, the platform's own lines included.
 */
export const oneByOne = (assumptions: Assumptions): Design => ({
  name: 'One message per record',
  perMillion: {
    sqsRequest: 3 * MILLION,
    sqsFairRequest: MILLION,
    dynamoWrite: (3 + 1 + assumptions.calls) * MILLION,
    s3Put: MILLION,
    lambdaRequest: MILLION,
    lambdaGbSecond: recordGbSeconds(assumptions) * MILLION,
    logGb: (600 * MILLION) / BYTES_A_GB,
  },
});

/** Memory that an express workflow is billed for, and the steps in which its time is, see the price list. */
const EXPRESS_GB = 64 / 1_024;
const EXPRESS_STEP_MS = 100;

/**
 * Step Functions Distributed Map, one item per child, so that each record is retried and told about by itself: one state transition
 * per child that is started (https://docs.aws.amazon.com/step-functions/latest/dg/concepts-transitions.html), an express execution with
 * one Lambda task, the outcome's row (1 unit) and a slot per call (2 units); results by the result writer. It has no pacer
 * of its own: a maximum concurrency bounds what runs at once and not the calls per second.
 */
export const distributedMap = (assumptions: Assumptions): Design => {
  const ms = assumptions.calls * assumptions.callMs + assumptions.overheadMs;
  return {
    name: 'Distributed Map, express children',
    perMillion: {
      dynamoWrite: (1 + assumptions.calls) * MILLION,
      lambdaRequest: MILLION,
      lambdaGbSecond: recordGbSeconds(assumptions) * MILLION,
      logGb: (600 * MILLION) / BYTES_A_GB,
      stateTransition: MILLION,
      expressRequest: MILLION,
      expressGbSecond: (Math.ceil(ms / EXPRESS_STEP_MS) * EXPRESS_STEP_MS * EXPRESS_GB * MILLION) / 1_000,
    },
  };
};

/** What is there all month, work or not; what watches it is in docs/architecture.md. */
export interface Standing {
  readonly eventSources: number;
  readonly secrets: number;
}

const MINUTES_A_MONTH = 30 * 24 * 60;
/** An idle event source keeps five pollers waiting: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
const IDLE_POLLERS = 5;
/** A poll waits up to 20 seconds for a message. */
const POLLS_A_MINUTE = 3;
/** A run of the reconciler that finds nothing open: queries, a gauge line; 512 MB for a tenth of a second. */
const RECONCILER_GB_SECONDS = 0.05;

/** What a month costs in which nothing is submitted. */
export const standingUsage = (standing: Standing): Usage => ({
  sqsRequest: standing.eventSources * IDLE_POLLERS * POLLS_A_MINUTE * MINUTES_A_MONTH,
  lambdaRequest: MINUTES_A_MONTH,
  lambdaGbSecond: RECONCILER_GB_SECONDS * MINUTES_A_MONTH,
  secret: standing.secrets,
});
