import { stream, type Dice } from './random.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** What the records of a file are like; what must become of each kind is in truth.ts. */
export const RECORD_KINDS = [
  'good',
  'unknown',
  'keyless',
  'invalid',
  'malformed',
  'rejected',
  'sick',
  'forbidden',
  'poison',
] as const;
/** `oversize`: larger than the limit that the submission was accepted under. */
export type RecordKind = (typeof RECORD_KINDS)[number] | 'oversize';

export interface SubmissionPlan {
  /** Number of its own, which names its random streams: removing another submission changes nothing for this one. */
  index: number;
  tenantId: string;
  atMs: number;
  file: 'csv' | 'ndjson' | 'header_only' | 'unreadable';
  kinds: readonly RecordKind[];
  cancelAfterMs?: number;
  /** The function that accepts it dies before the fan-out message is sent, or before that is noted. */
  diesAccepting?: 'before_send' | 'before_mark';
}

export type Trouble =
  | 'unavailable'
  | 'hanging'
  | 'resetting'
  | 'garbage'
  | 'error_in_200'
  | 'throttled'
  | 'unauthorized'
  | 'retry_after_503'
  /** A bad release refuses every request, or finds nothing for anybody. */
  | 'refusing_all'
  | 'finding_nothing';

/** A time in which something is wrong. Times from the start of the run. */
export interface Spell {
  fromMs: number;
  toMs: number;
}
export interface Outage extends Spell {
  provider: 'company' | 'geo';
  trouble: Trouble;
}
export interface Throttle extends Spell {
  share: number;
}

/** A time in which every call of one table takes seconds and some get no answer. */
export interface BrownOut extends Spell {
  table: 'records' | 'submissions';
}

export type Mishap =
  | { kind: 'purge'; atMs: number; queue: 'small' | 'bulk' | 'fanOut' | 'finalize' }
  | { kind: 'old_messages'; atMs: number; copies: number }
  | { kind: 'unreadable_message'; atMs: number; lane: 'small' | 'bulk' }
  /** A message that its submission does not know of, made from one that was sent. */
  | { kind: 'foreign_message'; atMs: number; wrong: 'tenant' | 'number' | 'generation' | 'submission' }
  /** For a time, nobody may read any file. */
  | { kind: 'files_denied'; atMs: number; forMs: number }
  /** The file of the next submission whose results are due is gone for a time. */
  | { kind: 'file_lost'; atMs: number; forMs: number }
  /** Somebody deletes items by hand: the ledger item of a chunk that is being worked, or rows of records that have not succeeded. */
  | { kind: 'items_lost'; atMs: number; what: 'ledger' | 'rows' }
  | { kind: 'redrive'; atMs: number; mode: 'records' | 'dead_letter_queue' }
  /** From then on: a redrive at the moment when a record fails of which another copy is being worked. */
  | { kind: 'hasty_redrive'; atMs: number };

/** A newer version is deployed to half of the fleet, taken back, and deployed again to all of it. Times from the start of the run. */
export interface Deployment extends Spell {
  againMs: number;
}

/** Everything that is decided before a run: who submits what, and what goes wrong when. */
export interface Plan {
  seed: number;
  submissions: readonly SubmissionPlan[];
  outages: readonly Outage[];
  throttles: readonly Throttle[];
  brownOuts: readonly BrownOut[];
  deployment?: Deployment;
  mishaps: readonly Mishap[];
  /** Probability that a function dies at any one await. */
  crashShare: number;
  /** Probability that a write is applied but its reply lost. */
  lostReplyShare: number;
  /** Probability that a call of AWS fails outside of a throttle. */
  failureShare: number;
  /** Probability that some entries of a batch are not taken. */
  partialShare: number;
  /** Probability that a delivery is made twice, by a copy or by an early redelivery. */
  duplicateShare: number;
  /** Probability that a message takes much longer than it should. */
  delayShare: number;
  /** Probability that a single provider call fails. */
  flakyShare: number;
  /** Clocks of functions and providers are off by up to this. */
  skewMs: number;
  /** Longest reply of the table that paces calls. */
  slowReplyMs: number;
  checkpointRecords: number;
  workers: number;
  /** Timeout of the workers' functions. */
  workerTimeoutMs: number;
}

export function planOf(seed: number): Plan {
  const dice = stream(seed, 'plan');
  const submissions = Array.from({ length: 1 + dice.below(4) }, (_, index) => submissionOf(seed, index));
  const calm = dice.chance(0.1);
  const share = (probability: number, most: number): number =>
    !calm && dice.chance(probability) ? dice.between(most / 10, most) : 0;
  const spells = stream(seed, 'spells');
  return {
    seed,
    submissions,
    outages: calm ? [] : Array.from({ length: spells.below(4) }, () => outageOf(spells)),
    throttles: calm || spells.chance(0.6) ? [] : [throttleOf(spells)],
    brownOuts: calm ? [] : brownOutsOf(stream(seed, 'brown-outs')),
    ...(!calm && deploymentOf(stream(seed, 'deployment'))),
    mishaps: calm
      ? []
      : [
          ...mishapsOf(stream(seed, 'mishaps')),
          ...foreignMessagesOf(stream(seed, 'foreign messages')),
          ...fileTroublesOf(stream(seed, 'files')),
          ...lostItemsOf(stream(seed, 'lost items')),
        ],
    crashShare: share(0.7, 0.01),
    lostReplyShare: share(0.6, 0.02),
    failureShare: share(0.6, 0.02),
    partialShare: share(0.6, 0.05),
    duplicateShare: share(0.7, 0.1),
    delayShare: share(0.4, 0.02),
    flakyShare: share(0.6, 0.02),
    skewMs: dice.pick([0, 20, 300]),
    slowReplyMs: dice.pick([15, 60, 200]),
    checkpointRecords: dice.pick([250, 500, 1_000]),
    workers: 2 + dice.below(4),
    // The shortest that is ever configured, and one with time for long waits.
    workerTimeoutMs: stream(seed, 'timeouts').pick([30 * SECOND_MS, MINUTE_MS]),
  };
}

const SIZES = [2, 3, 5, 7, 12, 20, 30, 60, 80] as const;
const BIG_SIZES = [249, 250, 251, 260, 510] as const;

function submissionOf(seed: number, index: number): SubmissionPlan {
  const dice = stream(seed, `submission ${index}`);
  const records = dice.chance(0.07) ? dice.pick(BIG_SIZES) : dice.pick(SIZES);
  const mostlyGood = dice.between(0.6, 1);
  const hasPoison = dice.chance(0.3);
  const kinds = Array.from({ length: records }, (): RecordKind => {
    if (dice.chance(mostlyGood)) return 'good';
    const kind = dice.pick(RECORD_KINDS);
    return kind === 'poison' || kind === 'sick' || kind === 'forbidden' ? 'good' : kind;
  });
  if (hasPoison) kinds[dice.below(records)] = 'poison';
  if (dice.chance(0.3)) kinds[dice.below(records)] = 'sick';
  const sizes = stream(seed, `sizes of ${index}`);
  if (sizes.chance(0.3)) kinds[sizes.below(records)] = 'oversize';
  if (dice.chance(0.15)) kinds[dice.below(records)] = 'forbidden';
  const isOdd = dice.chance(0.08);
  const file = isOdd ? dice.pick(['header_only', 'unreadable'] as const) : dice.pick(['csv', 'csv', 'ndjson'] as const);
  const dies = dice.chance(0.1) ? dice.pick(['before_send', 'before_mark'] as const) : undefined;
  return {
    index,
    tenantId: dice.pick(['acme', 'globex', 'initech']),
    atMs: Math.round(dice.between(0, 3 * MINUTE_MS)),
    file,
    kinds: isOdd ? [] : kinds,
    ...(dice.chance(0.12) && { cancelAfterMs: Math.round(dice.between(0, 2 * MINUTE_MS)) }),
    ...(dies && { diesAccepting: dies }),
  };
}

const TROUBLES = [
  'unavailable',
  'unavailable',
  'hanging',
  'resetting',
  'garbage',
  'error_in_200',
  'throttled',
  'unauthorized',
  'retry_after_503',
  'refusing_all',
  'finding_nothing',
] as const;

function outageOf(dice: Dice): Outage {
  const fromMs = dice.between(0, 4 * MINUTE_MS);
  // Five attempts span about half a minute: most outages are longer than that, some by far.
  const long = dice.chance(0.1) ? 60 * MINUTE_MS : 10 * MINUTE_MS;
  const lengthMs = dice.pick([20 * SECOND_MS, 90 * SECOND_MS, 4 * MINUTE_MS, long]);
  return { provider: dice.pick(['company', 'geo']), trouble: dice.pick(TROUBLES), fromMs, toMs: fromMs + lengthMs };
}

function throttleOf(dice: Dice): Throttle {
  const fromMs = dice.between(0, 2 * MINUTE_MS);
  return { share: 0.4, fromMs, toMs: fromMs + MINUTE_MS };
}

function brownOutsOf(dice: Dice): BrownOut[] {
  if (dice.chance(0.75)) return [];
  const fromMs = dice.between(0, 3 * MINUTE_MS);
  const toMs = fromMs + dice.between(30 * SECOND_MS, 4 * MINUTE_MS);
  const table = dice.pick(['records', 'submissions'] as const);
  const other = table === 'records' ? 'submissions' : 'records';
  return [{ table, fromMs, toMs }, ...(dice.chance(0.4) ? [{ table: other, fromMs, toMs } as const] : [])];
}

function deploymentOf(dice: Dice): Pick<Plan, 'deployment'> {
  if (dice.chance(0.6)) return {};
  const fromMs = dice.between(0, 3 * MINUTE_MS);
  const toMs = fromMs + dice.between(30 * SECOND_MS, 4 * MINUTE_MS);
  return { deployment: { fromMs, toMs, againMs: toMs + dice.between(0, 10 * MINUTE_MS) } };
}

function foreignMessagesOf(dice: Dice): Mishap[] {
  return Array.from({ length: dice.chance(0.3) ? 1 + dice.below(4) : 0 }, () => ({
    kind: 'foreign_message',
    atMs: Math.round(dice.between(MINUTE_MS, 6 * MINUTE_MS)),
    wrong: dice.pick(['tenant', 'number', 'generation', 'submission']),
  }));
}

function fileTroublesOf(dice: Dice): Mishap[] {
  const troubles: Mishap[] = [];
  const forMs = (): number => Math.round(dice.between(10 * SECOND_MS, 4 * MINUTE_MS));
  const atMs = (): number => Math.round(dice.between(0, 3 * MINUTE_MS));
  if (dice.chance(0.2)) troubles.push({ kind: 'files_denied', atMs: atMs(), forMs: forMs() });
  if (dice.chance(0.2)) troubles.push({ kind: 'file_lost', atMs: atMs(), forMs: forMs() });
  return troubles;
}

function lostItemsOf(dice: Dice): Mishap[] {
  return Array.from({ length: dice.chance(0.3) ? 1 + dice.below(3) : 0 }, () => ({
    kind: 'items_lost',
    atMs: Math.round(dice.between(0, 6 * MINUTE_MS)),
    what: dice.pick(['ledger', 'rows']),
  }));
}

function mishapsOf(dice: Dice): Mishap[] {
  const mishaps: Mishap[] = [];
  const when = (): number => Math.round(dice.between(0, 6 * MINUTE_MS));
  if (dice.chance(0.15)) {
    mishaps.push({ kind: 'purge', atMs: when(), queue: dice.pick(['small', 'bulk', 'fanOut', 'finalize']) });
  }
  if (dice.chance(0.4)) mishaps.push({ kind: 'old_messages', atMs: when() * 10, copies: 1 + dice.below(20) });
  if (dice.chance(0.15)) mishaps.push({ kind: 'unreadable_message', atMs: when(), lane: dice.pick(['small', 'bulk']) });
  for (let redrives = dice.below(3); redrives > 0; redrives--) {
    mishaps.push({ kind: 'redrive', atMs: when() * 10, mode: dice.pick(['records', 'dead_letter_queue']) });
  }
  if (dice.chance(0.25)) mishaps.push({ kind: 'hasty_redrive', atMs: Math.round(when() / 3) });
  return mishaps;
}
