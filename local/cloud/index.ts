/**
 * The public face of the local cloud: everything that a project uses of it. See README.md in this directory.
 *
 * Most projects need two calls: `synthesize` makes a cloud assembly of a CDK app, `startLocalCloud` runs it.
 */
export { startLocalCloud, type LocalCloud, type LocalCloudOptions } from './local-cloud.ts';
export { synthesize, type SynthesisOptions } from './templates/synthesize.ts';
export { LocalCloudError } from './errors.ts';

// The AWS endpoint alone: every call is checked, no function runs.
export { startCloud } from './cloud.ts';
export type * from './contract.ts';

// What the templates declare, without running anything.
export { declaredResources } from './templates/evaluate.ts';
export { resourceNames, type ResourceNames } from './resources.ts';

// Functions, their logs, and what invokes them.
export type { Events } from './events/start.ts';
export type { InvocationReport, LocalFunctions } from './lambda/functions.ts';
export { LogStore, type LogLine, type LogStoreOptions } from './lambda/logs.ts';
export type { FunctionSpec } from './lambda/spec.ts';
export { runtimeVariables } from './lambda/variables.ts';

// Metrics and alarms, which also run on a clock of the caller's.
export { Alarms, alarmLine, type Transition } from './alarms/alarms.ts';
export type { AlarmDefinition } from './alarms/definitions.ts';
export type { RunningAlarms } from './alarms/start.ts';
export { Metrics } from './metrics/collect.ts';
export { MetricStore } from './metrics/store.ts';
