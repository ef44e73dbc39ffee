import { Tags, type App } from 'aws-cdk-lib';
import type { Stage } from '../config/stage.ts';
import type { Alarms } from './constructs/alarms.ts';
import { warnOfPlaceholders } from './placeholders.ts';
import { DataStack } from './stacks/data-stack.ts';
import { PipelineStack } from './stacks/pipeline-stack.ts';

/** The stacks of one stage. */
export interface Sluice {
  readonly data: DataStack;
  readonly pipeline: PipelineStack;
}

/** Puts the stacks of a stage into an app, for whichever account and region it is deployed to. */
export function addSluice(app: App, stage: Stage): Sluice {
  const data = new DataStack(app, `sluice-${stage.name}-data`, {
    stage,
    description: `Sluice (${stage.name}): bucket, tables, secret and alarm topic`,
  });
  const alarms: Alarms = {
    topic: data.alarmTopic,
    runbookUrl: stage.alarms.runbookUrl,
    pages: [],
    watchedMetrics: 0,
  };
  const pipeline = new PipelineStack(app, `sluice-${stage.name}-pipeline`, {
    stage,
    data,
    alarms,
    description: `Sluice (${stage.name}): API, queues and functions`,
  });
  warnOfPlaceholders(app, stage);
  Tags.of(app).add('service', 'sluice');
  Tags.of(app).add('stage', stage.name);
  return { data, pipeline };
}
