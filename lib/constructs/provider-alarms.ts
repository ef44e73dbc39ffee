import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import { PROVIDER_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm } from './alarms.ts';
import { pipelineMetric } from './metrics.ts';
import type { FunctionSettings } from './pipeline-function.ts';

export interface ProviderAlarmsProps {
  readonly provider: Pick<ProviderConfig, 'name' | 'ratePerSecond'>;
  readonly settings: FunctionSettings;
}

/** Calls refused with 429 in five minutes before the alarm rings: paced calls are hardly ever refused. */
const THROTTLED_THRESHOLD = 5;

/** Below this share of what is configured the granted rate is worth a ticket. */
const GRANTED_SHARE_THRESHOLD = 0.8;

const FIVE_MINUTES = { statistic: 'Sum', period: Duration.minutes(5) };

/** The alarms about one provider. */
export class ProviderAlarms extends Construct {
  constructor(scope: Construct, id: string, { provider: { name, ratePerSecond }, settings }: ProviderAlarmsProps) {
    super(scope, id);
    const { stageName, alarms } = settings;
    const common = {
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 1,
      // No calls are made while no record needs the provider.
      missingData: TreatMissingData.NOT_BREACHING,
    };
    const told = { stageName, by: 'worker', of: { provider: name } } as const;
    addAlarm(this, 'BreakerOpen', alarms, {
      ...common,
      metric: new MathExpression({
        // A pause of hours that a single answer asked for stops the provider as well, and has no other alarm.
        expression: 'open + blocked',
        usingMetrics: {
          open: pipelineMetric(PROVIDER_METRICS.breakerOpen, { ...told, by: 'reconciler', statistic: 'Maximum' }),
          blocked: pipelineMetric(PROVIDER_METRICS.blocked, { ...told, by: 'reconciler', statistic: 'Maximum' }),
        },
        period: Duration.minutes(1),
        label: 'calls are stopped',
      }),
      threshold: 1,
      // An outage of seconds is ignored. An open breaker probes now and then, which looks like closed.
      periods: 5,
      datapoints: 3,
      severity: 'ticket',
      description: `The provider ${name} does not work, or asked for a pause, and its calls are stopped: ask the provider, records wait unharmed.`,
      runbookSection: 'breaker-open',
    });
    addAlarm(this, 'CallsThrottled', alarms, {
      ...common,
      metric: pipelineMetric(PROVIDER_METRICS.callsThrottled, { ...told, ...FIVE_MINUTES }),
      threshold: THROTTLED_THRESHOLD,
      severity: 'ticket',
      description: `The provider ${name} refuses calls with 429: compare its limit with ratePerSecond and find out who else uses the account.`,
      runbookSection: 'provider-throttles',
    });
    addAlarm(this, 'PaceLowered', alarms, {
      ...common,
      metric: pipelineMetric(PROVIDER_METRICS.grantedRate, {
        ...told,
        by: 'reconciler',
        statistic: 'Minimum',
        period: Duration.minutes(1),
      }),
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: ratePerSecond * GRANTED_SHARE_THRESHOLD,
      // After a few refused calls in passing the pace is back within six minutes.
      periods: 15,
      datapoints: 10,
      severity: 'ticket',
      description: `The provider ${name} allows less than the configured ${ratePerSecond} calls/s, and the fleet calls at the rate that this alarm shows: agree on a limit with the provider and set ratePerSecond to it.`,
      runbookSection: 'pace-lowered',
    });
    addAlarm(this, 'CanaryRefused', alarms, {
      ...common,
      metric: pipelineMetric(PROVIDER_METRICS.canaryDistrusted, {
        ...told,
        by: 'reconciler',
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      threshold: 1,
      severity: 'ticket',
      description: `The canary of the provider ${name} is answered without data while records get data: set a lookup that always has data as canary in config/providers.ts.`,
      runbookSection: 'canary-refused',
    });
    addAlarm(this, 'CredentialRefused', alarms, {
      ...common,
      metric: pipelineMetric(PROVIDER_METRICS.credentialsRefused, { ...told, ...FIVE_MINUTES }),
      threshold: 1,
      severity: 'page',
      description: `The provider ${name} refuses our credential and every record waits for it: put a valid one into the secret.`,
      runbookSection: 'credential-refused',
    });
  }
}
