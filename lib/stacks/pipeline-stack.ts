import { CfnOutput, CrossStackReferences, ReferenceStrength, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { capacityOf, clearableRecords, providersOf, sustainedRatesOf, type Stage } from '../../config/stage.ts';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import type { Alarms } from '../constructs/alarms.ts';
import { Api } from '../constructs/api.ts';
import { Authorizer } from '../constructs/authorizer.ts';
import { FanOut } from '../constructs/fan-out.ts';
import { Finalizer } from '../constructs/finalizer.ts';
import { Lane } from '../constructs/lane.ts';
import { logRetention } from '../constructs/pipeline-function.ts';
import { Monitoring } from '../constructs/monitoring.ts';
import { PageAlarm } from '../constructs/alarms.ts';
import type { FunctionSettings } from '../constructs/pipeline-function.ts';
import { ProviderAlarms } from '../constructs/provider-alarms.ts';
import { Reconciler } from '../constructs/reconciler.ts';
import { Prepare, prepareRequests } from '../constructs/prepare.ts';
import { Redrive } from '../constructs/redrive.ts';
import { StandIns } from '../constructs/stand-ins.ts';
import { Preview } from '../constructs/preview.ts';
import { Status } from '../constructs/status.ts';
import { Submit } from '../constructs/submit.ts';
import { Webhooks } from '../constructs/webhooks.ts';
import { refuseToDeployPlaceholders } from '../placeholders.ts';
import type { DataStack } from './data-stack.ts';

export interface PipelineStackProps extends StackProps {
  readonly stage: Stage;
  readonly data: DataStack;
  readonly alarms: Alarms;
}

/** Everything that works: API, queues and functions. What is lost with it can be made again from the data stack. */
export class PipelineStack extends Stack {
  constructor(scope: Construct, id: string, { stage, data, alarms, ...stackProps }: PipelineStackProps) {
    super(scope, id, stackProps);
    // The pipeline cannot work without the data, so the data cannot go before it.
    CrossStackReferences.of(this).consume(ReferenceStrength.STRONG);
    const { limits, worker } = stage;
    const removalPolicy = stage.protection === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const providers = providersOf(stage);
    const settings = functionSettings(stage, removalPolicy, data.key, alarms);
    const queue = { retentionDays: stage.queueRetentionDays, encryptionKey: data.key, alarms };
    const common = {
      ...data.stores,
      settings,
      queue,
      stage,
      providerRates: JSON.stringify(sustainedRatesOf(stage)),
      contractAgeSeconds: stage.contractAgeSeconds,
    };

    const webhookQueue = new Webhooks(this, 'Webhooks', common).queue;
    const finalizer = new Finalizer(this, 'Finalization', {
      ...common,
      webhookQueue,
      maxConcurrency: stage.finalizerConcurrency,
    });
    const names = providers.map(({ name }) => name);
    const baseUrls =
      data.standInCredential === undefined
        ? Object.fromEntries(providers.map(({ name, baseUrl }) => [name, baseUrl]))
        : new StandIns(this, 'StandIns', { settings, credential: data.standInCredential, names }).baseUrls;
    const laneProps = {
      ...common,
      capacity: capacityOf(stage),
      batchSize: worker.batchSize,
      memoryMb: worker.memoryMb,
      // Calls start at the usable rate, also where fewer can be open than that would need.
      providerRates: byName(providers, ({ ratePerSecond }) => ratePerSecond),
      providerBaseUrls: JSON.stringify(baseUrls),
      providerBursts: byName(providers, ({ burst }) => burst),
      successLogShare: stage.logs.successShare,
      clearableRecords: clearableRecords(stage),
      finalizeQueue: finalizer.queue,
    };
    const lanes = {
      smallLane: new Lane(this, 'SmallLane', { ...laneProps, lane: 'small' }).queue,
      bulkLane: new Lane(this, 'BulkLane', { ...laneProps, lane: 'bulk' }).queue,
      finalizeQueue: finalizer.queue,
    };
    const prepareQueue = prepareRequests(this, common);
    const fanOut = new FanOut(this, 'FanOut', {
      ...common,
      ...lanes,
      prepareQueue,
      webhookQueue,
      maxConcurrency: stage.fanOutConcurrency,
      smallLaneThreshold: limits.smallLaneThreshold,
    });
    new Prepare(this, 'Preparation', {
      ...common,
      queue: prepareQueue,
      fanOutQueue: fanOut.queue,
      maxConcurrency: stage.prepareConcurrency,
    });
    const { submissionDeadlineHours, automaticRedrive } = stage;
    const redrive = new Redrive(this, 'Redrive', {
      ...common,
      ...lanes,
      submissionDeadlineHours,
    });
    new Reconciler(this, 'Reconciliation', {
      ...common,
      ...lanes,
      prepareQueue,
      webhookQueue,
      fanOutQueue: fanOut.queue,
      submissionDeadlineHours,
      laneVisibilitySeconds: laneProps.capacity.visibilityTimeoutSeconds,
      lostAfterSeconds: stage.lostAfterSeconds,
      automaticRedrive,
    });
    const api = new Api(this, 'Api', {
      stage,
      removalPolicy,
      encryptionKey: data.key,
      alarms,
      authorizer: new Authorizer(this, 'Authorization', { ...common, cacheSeconds: stage.api.authorizerCacheSeconds }),
      preview: new Preview(this, 'Previews', common),
      submit: new Submit(this, 'Submission', { ...common, webhookQueue, fanOutQueue: fanOut.queue }),
      status: new Status(this, 'Status', {
        ...common,
        corsOrigins: stage.api.corsOrigins,
        smallLaneShare: worker.smallLaneShare,
      }),
    });

    const providerAlarms = new Construct(this, 'Providers');
    for (const [name, ratePerSecond] of Object.entries(sustainedRatesOf(stage))) {
      new ProviderAlarms(providerAlarms, name, { provider: { name, ratePerSecond }, settings });
    }
    new PageAlarm(this, 'Page', { alarms });
    new Monitoring(this, 'Monitoring', {
      stage,
      providers,
      alarms,
      api,
      queues: {
        'small lane': lanes.smallLane,
        'bulk lane': lanes.bulkLane,
        'fan-out': fanOut.queue,
        prepare: prepareQueue,
        finalization: finalizer.queue,
        webhooks: webhookQueue,
      },
      tables: tablesOf(data),
    });

    refuseToDeployPlaceholders(this, stage);
    new CfnOutput(this, 'ApiUrl', { value: api.url, description: 'Base of the paths in docs/api.md' });
    new CfnOutput(this, 'RedriveFunctionName', { value: redrive.fn.fn.functionName });
  }
}

const functionSettings = (
  stage: Stage,
  removalPolicy: RemovalPolicy,
  encryptionKey: IKey | undefined,
  alarms: Alarms,
): FunctionSettings => ({
  stageName: stage.name,
  logLevel: stage.logs.level,
  logRetentionDays: logRetention(stage.logs.retentionDays),
  removalPolicy,
  encryptionKey,
  alarms,
});

const tablesOf = ({ stores }: DataStack): ITable[] => [
  stores.submissions,
  stores.records,
  stores.providers,
  stores.tenants,
  stores.idempotency,
  stores.webhooks,
];

/** One value of every provider, as JSON for a variable. */
const byName = (providers: readonly ProviderConfig[], value: (provider: ProviderConfig) => unknown): string =>
  JSON.stringify(Object.fromEntries(providers.map((provider) => [provider.name, value(provider)])));
