import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Cloud, DeployedResource, FunctionInvoker, InvokeResult } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import { readProperties, refuse } from '../properties.ts';

const PRINCIPAL = 'events.amazonaws.com';
const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const ruleSchema = v.object({
  ScheduleExpression: v.optional(v.string()),
  State: v.optional(v.picklist(['ENABLED', 'DISABLED']), 'ENABLED'),
  Targets: v.optional(v.array(v.object({ Arn: v.string(), Input: v.optional(v.string()) })), []),
});

interface Schedule {
  readonly resource: DeployedResource;
  readonly everyMs: number;
  readonly enabled: boolean;
  readonly targets: readonly { readonly Arn: string; readonly Input?: string | undefined }[];
}

export interface SchedulesOptions {
  readonly cloud: Pick<Cloud, 'byType' | 'find' | 'authorize' | 'accountId' | 'region'>;
  readonly invoker: FunctionInvoker;
  /** `manual`: nothing fires by itself, only through {@link Schedules.fire}. Default `clock`. */
  readonly mode?: 'clock' | 'manual';
}

/** Rules of EventBridge that run functions by the clock. */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #schedules: readonly Schedule[];
  #timers: NodeJS.Timeout[] = [];

  /** @throws LocalCloudError naming a rule that cannot run here, and why */
  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#schedules = options.cloud.byType('AWS::Events::Rule').map((resource) => readRule(resource, options.cloud));
  }

  start(): void {
    if (this.#options.mode === 'manual') return;
    this.#timers = this.#schedules
      .filter(({ enabled }) => enabled)
      .map((schedule) => setInterval(() => void this.#fire(schedule, 'Event'), schedule.everyMs));
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  /**
   * Fires the schedules of a function now, and waits for their end: what a test does in place of waiting a minute.
   *
   * @returns one result per target
   * @throws LocalCloudError when no schedule runs the function, or when the rule may not
   */
  async fire(functionName: string): Promise<InvokeResult[]> {
    const results: InvokeResult[] = [];
    for (const schedule of this.#schedules)
      results.push(...(await this.#fire(schedule, 'RequestResponse', functionName)));
    if (results.length === 0) throw new LocalCloudError(`No schedule of the templates runs ${functionName}.`);
    return results;
  }

  async #fire(schedule: Schedule, invocationType: 'Event' | 'RequestResponse', only?: string): Promise<InvokeResult[]> {
    const { cloud, invoker } = this.#options;
    const results: InvokeResult[] = [];
    for (const { Arn, Input } of schedule.targets) {
      const functionName = cloud.find(Arn)?.physicalId ?? Arn;
      if (only !== undefined && only !== functionName) continue;
      const decision = await cloud.authorize({
        principal: PRINCIPAL,
        action: 'lambda:InvokeFunction',
        resource: Arn,
        context: { 'aws:SourceArn': schedule.resource.arn },
      });
      // EventBridge drops what it may not deliver; the authorizer has noted the denial.
      if (!decision.allowed) continue;
      const payload = Input ?? this.#event(schedule);
      results.push(
        await invoker.invoke({ functionName, payload, invocationType, principal: PRINCIPAL, logType: 'None' }),
      );
    }
    return results;
  }

  #event({ resource }: Schedule): string {
    const { accountId, region } = this.#options.cloud;
    return JSON.stringify({
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: accountId,
      time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
      region,
      resources: [resource.arn],
      detail: {},
    });
  }
}

function readRule(resource: DeployedResource, cloud: SchedulesOptions['cloud']): Schedule {
  const { ScheduleExpression, State, Targets } = readProperties(ruleSchema, resource);
  if (ScheduleExpression === undefined) return refuse(resource, 'it has an event pattern; only schedules run here');
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(ScheduleExpression) ?? [];
  if (count === undefined || unit === undefined)
    return refuse(resource, `the schedule ${ScheduleExpression} is not a rate(…)`);
  for (const { Arn } of Targets) {
    if (cloud.find(Arn)?.type !== 'AWS::Lambda::Function')
      return refuse(resource, `its target ${Arn} is not a function here`);
  }
  return { resource, everyMs: Number(count) * (UNIT_MS[unit] ?? 0), enabled: State === 'ENABLED', targets: Targets };
}
