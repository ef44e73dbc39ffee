import pLimit, { type LimitFunction } from 'p-limit';
import { InvalidDataError } from '../errors.ts';
import { DEFAULT_STATUSES, type ProviderConfig } from './config.ts';
import { compileSchema } from '../records/validation.ts';
import type { ProviderState } from './ports.ts';
import type { AnswerRules } from './classify.ts';
import { createRequestBuilder, type ProviderRequest, type RequestBuilder } from './request.ts';

/** A provider made ready for calls: schema compiled, requests prepared. Once per process. */
export interface Provider {
  config: ProviderConfig;
  requestFor: RequestBuilder;
  rules: AnswerRules;
  /** Semaphore of this process's calls: as many at the same time as its share of the provider's limit, the others in order. */
  semaphore: LimitFunction;
  /** How many that is; Infinity where the provider sets no limit. */
  callsAtOnce: number;
  /** The canary's lookup. */
  canary: ProviderRequest;
  /** What this process saw last of the provider's item. */
  lastState?: ProviderState;
}

/** Answers of all providers together must fit into a row beside its other attributes (DynamoDB: 400 KB an item). */
const MAX_ANSWERS_BYTES = 256 * 1024;

/**
 * Prepares the configured providers.
 *
 * @throws InvalidDataError that names the provider and what to correct.
 */
export function prepareProviders(
  configs: readonly ProviderConfig[],
  callsPerWorker: Readonly<Record<string, number>> = {},
): Provider[] {
  const bytes = configs.reduce((sum, { maxBodyBytes }) => sum + maxBodyBytes, 0);
  if (bytes > MAX_ANSWERS_BYTES) {
    throw new InvalidDataError(
      `The providers' maxBodyBytes add up to ${bytes}: lower them to ${MAX_ANSWERS_BYTES} together, or a row cannot hold the answers.`,
    );
  }
  return configs.map((config) => prepare(config, callsPerWorker[config.name] ?? Infinity));
}

function prepare(config: ProviderConfig, callsAtOnce: number): Provider {
  const { name, answers = {}, maxBodyBytes, responseSchema, canary, output } = config;
  const checkBody = compileSchema(`responseSchema of provider "${name}"`, responseSchema, 'The answer');
  const requestFor = createRequestBuilder(config);
  const statuses = { ...DEFAULT_STATUSES, ...answers.statuses };
  const rules = { name, answers: { ...answers, statuses, ...(output && { output }) }, maxBodyBytes, checkBody };
  const request = requestFor(canary);
  if (request.kind !== 'request') {
    throw new InvalidDataError(
      `The canary of provider "${name}" makes no request: give every lookup field a usable value.`,
    );
  }
  const semaphore = pLimit(callsAtOnce);
  const { kind: _kind, ...asked } = request;
  return { config, requestFor, rules, semaphore, callsAtOnce, canary: asked };
}
