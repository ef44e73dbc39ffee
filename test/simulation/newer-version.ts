import { START_MS } from '../support/memory/index.ts';
import type { PortCall } from '../support/memory/index.ts';
import type { LedgerMarks } from '../../lambdas/domain/ledger/ports.ts';
import type { ProviderAnswer, RecordRow } from '../../lambdas/domain/model.ts';
import type { Delivery, OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import { isReasonCode, type ReasonCode } from '../../lambdas/domain/reasons.ts';
import * as v from 'valibot';
import { codeSchema } from '../../lambdas/domain/versions.ts';
import type { Plan } from './plan.ts';
import { stream, type Dice } from './random.ts';

/** Codes of the newer version, by those that they replace. */
const NEW_REASONS = new Map([
  ['provider_rejected', 'provider_declined'],
  ['provider_unavailable', 'provider_asleep'],
]);
const OLD_REASONS = new Map([...NEW_REASONS].map(([known, newer]) => [newer, known]));
const NO_LISTING = v.parse(codeSchema, 'not_listed');
const MAJOR_SHARE = 0.3;

/** The code of today that a reason of the newer version stands for. */
export const knownReason = (reason: string): string => OLD_REASONS.get(reason) ?? reason;

function newerReason(reason: ReasonCode): ReasonCode {
  const code = NEW_REASONS.get(reason);
  return isReasonCode(code) ? code : reason;
}

/**
 * A deployment that is taken back and made again: part of the environments, and in the end all, are of a newer version. It writes members and
 * codes that the others do not know, and, the first time, messages of a newer major version that only it can read.
 */
export class NewerVersion {
  readonly #plan: Plan;
  readonly #now: () => number;
  readonly #dice: Dice;

  constructor(plan: Plan, now: () => number) {
    this.#plan = plan;
    this.#now = now;
    this.#dice = stream(plan.seed, 'major versions');
  }

  /** Whether an environment is one of those that are deployed first. */
  isEarly(environment: string): boolean {
    const { seed, deployment } = this.#plan;
    return deployment !== undefined && stream(seed, `version of ${environment}`).chance(0.5);
  }

  runs(environment: string): boolean {
    const { deployment } = this.#plan;
    if (deployment === undefined) return false;
    return this.#sinceStartMs >= deployment.againMs || (this.#isFirst && this.isEarly(environment));
  }

  get #sinceStartMs(): number {
    return this.#now() - START_MS;
  }

  get #isFirst(): boolean {
    const { fromMs = Infinity, toMs = 0 } = this.#plan.deployment ?? {};
    return this.#sinceStartMs >= fromMs && this.#sinceStartMs < toMs;
  }

  /** What the newer version reads in messages that only it can read. */
  read(deliveries: readonly Delivery[]): Delivery[] {
    return deliveries.map((delivery) => ({ ...delivery, body: changed(delivery.body, { v: 1 }) }));
  }

  /** The arguments of a call, as the newer version makes it. */
  written({ port, method, args }: PortCall): readonly unknown[] {
    const [first, second, third, ...rest] = args;
    if (port === 'records' && method === 'put') return [newerRow(first as RecordRow), ...args.slice(1)];
    if (port === 'ledger' && method === 'mark') return [first, second, newerMarks(third as LedgerMarks), ...rest];
    if (method !== 'send') return args;
    const isMajor = this.#isFirst && port.startsWith('queues');
    return [
      (first as OutgoingMessage[]).map((message) => {
        const major = isMajor && this.#dice.chance(MAJOR_SHARE) ? { v: 2 } : {};
        return { ...message, body: changed(message.body, { origin: { region: 'north' }, ...major }) };
      }),
    ];
  }
}

/** A message with other members; one that is no JSON as it is. */
function changed(body: string, members: object): string {
  try {
    return JSON.stringify({ ...JSON.parse(body), ...members });
  } catch {
    return body;
  }
}

function newerRow(row: RecordRow): RecordRow {
  const answers = Object.entries(row.answers).map(([provider, answer]): [string, ProviderAnswer] => [
    provider,
    answer.kind === 'not_found' ? { kind: NO_LISTING } : answer,
  ]);
  return {
    ...row,
    ...(row.reason === undefined ? {} : { reason: newerReason(row.reason) }),
    answers: Object.fromEntries(answers),
    others: { ...row.others, quality: 7 },
  };
}

const newerMarks = (marks: LedgerMarks): LedgerMarks => ({
  ...marks,
  failed: new Map([...marks.failed].map(([reason, offsets]) => [newerReason(reason), offsets])),
});
