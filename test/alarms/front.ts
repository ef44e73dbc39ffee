import { createConverter } from '../../lambdas/adapters/prepare/converter.ts';
import { createMemoryProfiles } from '../support/memory/profiles.ts';
import { AcceptedSchemas } from '../../lambdas/domain/submissions/schemas.ts';
import { createSubmission } from '../../lambdas/domain/api/submissions.ts';
import { getSubmission, listSubmissions } from '../../lambdas/domain/api/status.ts';
import { createPreview } from '../../lambdas/domain/api/previews.ts';
import { createCountsCache } from '../../lambdas/domain/api/counts-cache.ts';
import type { TimeBudget } from '../../lambdas/domain/time.ts';
import { httpHandler, type HttpHandler } from '../../lambdas/runtime/http.ts';
import { createTestAnswerMemory } from '../support/api/answer-memory.ts';
import { proxyEvent, type Call } from '../support/api/api.ts';
import type { Environment } from '../simulation/environment.ts';
import type { FunctionOptions } from '../simulation/functions.ts';
import type { FunctionKind } from './meter.ts';
import type { MonitoredSimulation } from './monitored.ts';

/** How long the gateway keeps a decision about an API key. */
const AUTHORIZER_CACHE_MS = 60_000;
/** What looking up a key takes. */
const AUTHORIZER_MS = 20;

const SETTINGS = {
  maxFileBytes: 10_000_000,
  maxRecords: 100_000,
  maxRecordBytes: 10_000,
  providers: ['company', 'geo'],
  maxDirectBodyBytes: 4_000_000,
  admission: { maxOpenRecordsPerTenant: 100_000, maxOpenRecords: 1_000_000, maxOpenSubmissionsPerTenant: 1_000 },
  retentionDays: 30,
  deadlineHours: 24,
  pacePerSecond: 25,
  smallLaneShare: 0.5,
};

export interface ApiCall extends Call {
  method: string;
  resource: string;
}

/** The API in front of the simulated account: a gateway with an authorizer, and the real functions behind it. */
export class Front {
  readonly #simulation: MonitoredSimulation;
  readonly #answers = createTestAnswerMemory();
  readonly #known = new Map<string, number>();

  constructor(simulation: MonitoredSimulation) {
    this.#simulation = simulation;
  }

  /** One request, measured as the gateway measures it. */
  async request({ method, resource, ...call }: ApiCall): Promise<number> {
    const { scheduler, meter } = this.#simulation;
    const startMs = scheduler.now();
    const status = await this.#answer(method, resource, call);
    meter.requested({ method, resourcePath: resource, status, latencyMs: scheduler.now() - startMs });
    return status;
  }

  async #answer(method: string, resource: string, call: Call): Promise<number> {
    if (!(await this.#mayPass(call.tenant ?? 'acme'))) return 500;
    const kind = resource === '/v1/previews' ? 'preview' : method === 'POST' ? 'submit' : 'status';
    const environment = this.#simulation.environment(kind);
    const handler = this.#handler(kind, environment, this.#simulation.options(environment));
    const event = proxyEvent(method, resource, resource, null, call);
    const result = await environment.invoke(this.#timeoutMs(kind), async (budget: TimeBudget) =>
      handler(event, { awsRequestId: environment.name, getRemainingTimeInMillis: budget.remainingMs }),
    );
    return result === 'died' ? 502 : result.ended.statusCode;
  }

  async #mayPass(tenant: string): Promise<boolean> {
    const { scheduler } = this.#simulation;
    if ((this.#known.get(tenant) ?? -Infinity) > scheduler.now()) return true;
    const environment = this.#simulation.environment('authorizer');
    const result = await environment.invoke(this.#timeoutMs('authorizer'), async () => scheduler.sleep(AUTHORIZER_MS));
    if (result === 'died') return false;
    this.#known.set(tenant, scheduler.now() + AUTHORIZER_CACHE_MS);
    return true;
  }

  #timeoutMs(kind: FunctionKind): number {
    return this.#simulation.meter.functionOf(kind).timeoutMs;
  }

  #handler(
    kind: 'submit' | 'status' | 'preview',
    { ports, clock }: Environment,
    { telemetry, random }: FunctionOptions,
  ): HttpHandler {
    const deps = {
      ...ports,
      fanOutQueue: ports.queues.live.fanOut,
      answers: this.#answers,
      countsCache: createCountsCache(clock),
      presigner: NO_PRESIGNER,
      schemas: new AcceptedSchemas(ports.submissions, NO_SCHEMAS),
      profiles: createMemoryProfiles(),
      telemetry,
      clock,
      random,
      settings: SETTINGS,
    };
    const answers = {
      submit: { createSubmission: createSubmission(deps) },
      status: { getSubmission: getSubmission(deps), listSubmissions: listSubmissions(deps) },
      preview: { createPreview: createPreview({ ...deps, converter: createConverter(ports.objects), lookups: {} }) },
    }[kind];
    const invocation = { ...telemetry, begin: () => undefined, flush: () => undefined };
    return httpHandler({ answers, corsOrigins: [], telemetry: invocation, clock });
  }
}

const NO_SCHEMAS = { record: { type: 'object' }, responses: {} };

/** Files are sent in the bodies of requests here. */
const NO_PRESIGNER = {
  upload: async () => Promise.reject(new Error('No upload is asked for here.')),
  download: async () => Promise.reject(new Error('No result is asked for here.')),
};
