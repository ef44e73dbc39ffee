import { createHash } from 'node:crypto';
import { isPassingFailure } from '../errors.ts';
import type { ProviderAnswer } from '../model.ts';
import type { TimeBudget } from '../time.ts';
import type { EnrichDeps, ProviderResult } from './call.ts';
import type { KeepAnswers } from './config.ts';
import { lookUp, type Lookup } from './lookup-batch.ts';
import type { AnswerCache, AnswerKey } from './ports.ts';
import type { Provider } from './provider.ts';

export interface AskOnceDeps extends EnrichDeps {
  answerCache: AnswerCache;
}

/** A lookup of one record, and whose record it is. */
export interface TenantLookup extends Lookup {
  tenantId: string;
}

/** Lookups of a batch that one answer serves. */
interface Question {
  lookup: TenantLookup;
  /** Positions in the batch. */
  indexes: number[];
}

/**
 * Looks records up at one provider, equal lookups once: those of a batch share one call, and where the provider's configuration keeps
 * answers, one that the fleet has bought before is taken from there. One result per lookup, in their order. Never throws.
 */
export async function askOnce(
  deps: AskOnceDeps,
  provider: Provider,
  lookups: readonly TenantLookup[],
  budget: TimeBudget,
): Promise<ProviderResult[]> {
  const questions = questionsOf(provider, lookups);
  const { keep, name } = provider.config;
  const results = new Map<Question, ProviderResult>();
  if (keep !== undefined) {
    const kept = await Promise.all(questions.map(async (question) => readKept(deps, provider, keep, question)));
    for (const [index, question] of questions.entries()) {
      const answer = kept[index];
      if (answer !== undefined) results.set(question, { kind: 'answer', answer });
    }
  }
  const open = questions.filter((question) => !results.has(question));
  if (open.length > 0) {
    const bought = await lookUp(deps, provider, open.map(toLookup), budget);
    for (const [index, question] of open.entries()) {
      const result = bought[index];
      if (result !== undefined) results.set(question, result);
    }
    if (keep !== undefined) await Promise.all(open.map(async (each) => store(deps, keep, provider, each, results)));
  }
  return inOrder(deps, name, results, open);
}

/** The result of each lookup; counts the answers that cost no call. */
function inOrder(
  deps: AskOnceDeps,
  provider: string,
  results: ReadonlyMap<Question, ProviderResult>,
  open: readonly Question[],
): ProviderResult[] {
  const ordered: ProviderResult[] = [];
  let reused = 0;
  for (const [question, result] of results) {
    for (const index of question.indexes) ordered[index] = result;
    if (result.kind === 'answer') reused += question.indexes.length - (open.includes(question) ? 1 : 0);
  }
  if (reused > 0) deps.telemetry.emit({ name: 'answers_reused', level: 'debug', provider, count: reused });
  return ordered;
}

/** Lookups are equal when they ask the same for the same owner of answers, and are checked by the same schema. */
function questionsOf({ config }: Provider, lookups: readonly TenantLookup[]): Question[] {
  const questions = new Map<string, Question[]>();
  for (const [index, lookup] of lookups.entries()) {
    const key = JSON.stringify([askedBy(lookup), ownerOf(config.keep, lookup)]);
    const alike = questions.get(key) ?? [];
    questions.set(key, alike);
    const equal = alike.find(({ lookup: { checkBody } }) => checkBody === lookup.checkBody);
    if (equal === undefined) alike.push({ lookup, indexes: [index] });
    else {
      equal.indexes.push(index);
      // A failure that would end one of the records is checked as if it were this one's.
      if (lookup.isLastAttempt) equal.lookup = { ...equal.lookup, isLastAttempt: true };
    }
  }
  return [...questions.values()].flat();
}

const toLookup = ({ lookup: { tenantId: _tenantId, ...lookup } }: Question): Lookup => lookup;

/** Whose the answer is: without a word about it in the configuration, no tenant is served with what another one paid for. */
const ownerOf = (keep: KeepAnswers | undefined, { tenantId }: TenantLookup): { tenantId?: string } =>
  keep?.for === 'all' ? {} : { tenantId };

const askedBy = ({ url, headers, body }: TenantLookup) => [url, headers, body];

/** By all that decides about the answer: what is asked where, and what the configuration makes of it. A change of either makes other keys. */
function keyOf({ config, rules }: Provider, keep: KeepAnswers, lookup: TenantLookup): AnswerKey {
  const text = JSON.stringify([config.method, askedBy(lookup), rules.answers]);
  const hash = createHash('sha256').update(text).digest('base64url');
  return { provider: config.name, ...ownerOf(keep, lookup), hash };
}

/** A kept answer that may be used for this lookup. The cache saves calls; where it does not work, the provider is asked. */
async function readKept(
  deps: AskOnceDeps,
  provider: Provider,
  keep: KeepAnswers,
  { lookup }: Question,
): Promise<ProviderAnswer | undefined> {
  try {
    const kept = await deps.answerCache.get(keyOf(provider, keep, lookup));
    if (kept === undefined) return undefined;
    const { answer, askedAtMs } = kept;
    const ageSeconds = Math.max(0, Math.round((deps.clock.now() - askedAtMs) / 1_000));
    // By today's configuration: whoever shortens the time does not wait for the old one to pass.
    const seconds = secondsFor(keep, answer);
    if (seconds === undefined || ageSeconds >= seconds) return undefined;
    const checkBody = lookup.checkBody ?? provider.rules.checkBody;
    if ('data' in answer && checkBody(answer.data) !== undefined) return undefined;
    return { ...answer, ageSeconds };
  } catch (error) {
    logFailure(deps, provider.config.name, error);
    return undefined;
  }
}

async function store(
  deps: AskOnceDeps,
  keep: KeepAnswers,
  provider: Provider,
  question: Question,
  results: ReadonlyMap<Question, ProviderResult>,
): Promise<void> {
  const result = results.get(question);
  const seconds = result?.kind === 'answer' ? secondsFor(keep, result.answer) : undefined;
  if (result?.kind !== 'answer' || seconds === undefined) return;
  try {
    const askedAtMs = deps.clock.now();
    const key = keyOf(provider, keep, question.lookup);
    await deps.answerCache.put(key, { answer: result.answer, askedAtMs }, Math.ceil(askedAtMs / 1_000) + seconds);
  } catch (error) {
    logFailure(deps, provider.config.name, error);
  }
}

/** How long an answer of this kind is kept; undefined where it is not. */
function secondsFor(keep: KeepAnswers, { kind }: ProviderAnswer): number | undefined {
  if (kind === 'found') return keep.foundForSeconds;
  return kind === 'not_found' ? keep.notFoundForSeconds : undefined;
}

function logFailure({ telemetry }: AskOnceDeps, provider: string, error: unknown): void {
  const level = isPassingFailure(error) ? 'warn' : 'error';
  telemetry.emit({ name: 'unexpected_error', level, provider, error });
}
