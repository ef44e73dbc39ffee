import * as v from 'valibot';
import { deriveCapacity, type Capacity } from '../lambdas/domain/capacity.ts';
import { LANES, type Lane } from '../lambdas/domain/model.ts';
import { PACE_SHARE, sustainedRate, usableRate, type ProviderConfig } from '../lambdas/domain/providers/config.ts';
import { ConfigError, describeIssue } from './fields.ts';
import { PROVIDERS } from './providers.ts';
import { stageSchema } from './stage-schema.ts';

/** What a file in `config/stages` says; everything that is left out has a default. */
export type StageInput = v.InferInput<typeof stageSchema>;
/** A stage with every default filled in. */
export type Stage = v.InferOutput<typeof stageSchema>;

/**
 * Defines a stage: checks it and fills in its defaults.
 *
 * @throws ConfigError
 */
export const defineStage = (input: StageInput): Stage => parseStage(input);

/**
 * Checks what a module exports as a stage.
 *
 * @throws ConfigError
 */
export function parseStage(input: unknown): Stage {
  const parsed = v.safeParse(stageSchema, input);
  if (!parsed.success) throw stageError(parsed.issues.map((issue) => describeIssue(issue, 'a stage')));
  const problems = [...contradictions(parsed.output), ...providerProblems(parsed.output)];
  if (problems.length > 0) throw stageError(problems, parsed.output.name);
  return parsed.output;
}

/** The providers as this stage uses them. */
export const providersOf = ({ providers }: Pick<Stage, 'providers'>): ProviderConfig[] =>
  PROVIDERS.map((provider) => {
    const override = providers[provider.name];
    const maxConcurrentCalls = override?.maxConcurrentCalls ?? provider.maxConcurrentCalls;
    const ratePerSecond = override?.ratePerSecond ?? provider.ratePerSecond;
    const burst = override?.burst ?? provider.burst;
    return {
      ...provider,
      baseUrl: override?.baseUrl ?? provider.baseUrl,
      ratePerSecond: usableRate({ ratePerSecond, burst }),
      burst,
      p99Ms: override?.p99Ms ?? provider.p99Ms,
      ...(maxConcurrentCalls === undefined ? {} : { maxConcurrentCalls }),
    };
  });

/** Sustained rates by provider, for estimates, alarms and contracts. Slots use the usable rate. */
export const sustainedRatesOf = (stage: Pick<Stage, 'providers'>): Record<string, number> =>
  Object.fromEntries(providersOf(stage).map((provider) => [provider.name, sustainedRate(provider)]));

/**
 * What the stage's workers, queues and event sources are sized to.
 *
 * @throws CapacityError for a combination that cannot work
 */
export const capacityOf = (stage: Pick<Stage, 'providers' | 'worker'>): Capacity =>
  deriveCapacity({
    providers: providersOf(stage),
    batchSize: stage.worker.batchSize,
    laneShares: { small: stage.worker.smallLaneShare, bulk: 1 - stage.worker.smallLaneShare },
    maxFunctionTimeoutSeconds: stage.worker.maxTimeoutSeconds,
  });

/**
 * Records of each lane that can be finished within its contract when the lane has all of the slowest provider's pace, or
 * that admission lets in, if that is less: more of them break the promise for certain.
 */
export function clearableRecords(
  stage: Pick<Stage, 'providers' | 'contractAgeSeconds' | 'admission'>,
): Record<Lane, number> {
  const perSecond = recordsPerSecond(stage);
  const within = (seconds: number): number => Math.min(Math.floor(perSecond * seconds), stage.admission.maxOpenRecords);
  return { small: within(stage.contractAgeSeconds.small), bulk: within(stage.contractAgeSeconds.bulk) };
}

/** Each record needs a call to every provider: the slowest one decides. */
const recordsPerSecond = (stage: Pick<Stage, 'providers'>): number =>
  Math.min(...Object.values(sustainedRatesOf(stage))) * PACE_SHARE;

function contradictions(stage: Stage): string[] {
  const problems: string[] = [];
  const { submissionDeadlineHours, queueRetentionDays, retentionDays, limits, api, admission } = stage;
  if (submissionDeadlineHours >= queueRetentionDays * 24) {
    problems.push(
      `submissionDeadlineHours is ${submissionDeadlineHours}, but messages expire after queueRetentionDays ` +
        `(${queueRetentionDays}): keep messages longer than submissions may take`,
    );
  }
  if (submissionDeadlineHours >= retentionDays * 24) {
    problems.push(
      `submissionDeadlineHours is ${submissionDeadlineHours}, but data expires after retentionDays (${retentionDays}): ` +
        'keep data longer than submissions may take',
    );
  }
  if (limits.smallLaneThreshold > limits.maxRecords) {
    problems.push(
      `limits.smallLaneThreshold is ${limits.smallLaneThreshold}, above limits.maxRecords (${limits.maxRecords}): ` +
        'lower it, or every file counts as small',
    );
  }
  if (admission.maxOpenRecordsPerTenant > admission.maxOpenRecords) {
    problems.push(
      `admission.maxOpenRecordsPerTenant is ${admission.maxOpenRecordsPerTenant}, above admission.maxOpenRecords ` +
        `(${admission.maxOpenRecords}): lower it, or one tenant can shut out all others`,
    );
  }
  if (stage.standInProviders && stage.protection === 'retain') {
    problems.push(
      'standInProviders is true, but protection is "retain": answers that are made up are not worth keeping; use "destroy"',
    );
  }
  if (api.burst < api.ratePerSecond) {
    problems.push(
      `api.burst is ${api.burst}, below api.ratePerSecond (${api.ratePerSecond}): raise it at least to that`,
    );
  }
  return [...problems, ...impossibleContracts(stage)];
}

/** Contract ages that no submission, or not the largest, can keep: their alarms would ring for permitted work. */
function impossibleContracts(stage: Stage): string[] {
  const { contractAgeSeconds, submissionDeadlineHours, limits } = stage;
  const problems = LANES.filter((lane) => contractAgeSeconds[lane] >= submissionDeadlineHours * 3_600).map(
    (lane) =>
      `contractAgeSeconds.${lane} is ${contractAgeSeconds[lane]}, but submissions expire after submissionDeadlineHours ` +
      `(${submissionDeadlineHours}): promise less, or give them more time`,
  );
  const most = Math.floor(recordsPerSecond(stage) * contractAgeSeconds.bulk);
  if (most < limits.maxRecords) {
    problems.push(
      `limits.maxRecords is ${limits.maxRecords}, but the slowest provider lets ${most} records through within ` +
        `contractAgeSeconds.bulk (${contractAgeSeconds.bulk}): lower it, or promise a longer time`,
    );
  }
  return problems;
}

function providerProblems({ providers }: Stage): string[] {
  const known = new Map(PROVIDERS.map((provider) => [provider.name, provider]));
  return Object.entries(providers).flatMap(([name, { p99Ms = 0 }]) => {
    const provider = known.get(name);
    if (provider === undefined) {
      const names = [...known.keys()].join(', ');
      return `providers.${name} is not in config/providers.ts, which has ${names}: correct the name`;
    }
    if (p99Ms <= provider.timeoutMs) return [];
    const { timeoutMs } = provider;
    return `providers.${name}.p99Ms is ${p99Ms}, above its timeoutMs (${timeoutMs}): lower it, or wait longer for answers`;
  });
}

const stageError = (problems: readonly string[], name?: string): ConfigError =>
  new ConfigError(`${name === undefined ? 'A stage' : `Stage "${name}"`} in config/stages`, problems);
