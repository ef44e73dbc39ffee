import { ConfigError } from '../../config/fields.ts';
import dev from '../../config/stages/dev.ts';
import { loadStageOf } from '../../lib/load-stage.ts';

describe('the stage that the context names', () => {
  it('is the one of the file with its name, whatever the CDK and its command line set', async () => {
    const context = { stage: 'dev', 'cli-telemetry': false, 'aws:cdk:bundling-stacks': [], '@aws-cdk/core:x': true };
    expect(await loadStageOf(context)).toEqual(dev);
  });

  it.each(['staging', '../dev', 7])('is refused when it is %j, naming those there are', async (stage) => {
    await expect(loadStageOf({ stage })).rejects.toThrow(ConfigError);
    await expect(loadStageOf({ stage })).rejects.toThrow(
      `there is no stage ${JSON.stringify(stage)}: use -c stage=NAME with one of dev, prod, sandbox`,
    );
  });

  it.each([[{}], [{ stage: '' }], [{ stage: undefined }]])('is refused for %j: none is assumed', async (context) => {
    await expect(loadStageOf(context)).rejects.toThrow(
      'no stage is named: use -c stage=NAME with one of dev, prod, sandbox',
    );
  });

  it('is refused beside a key that nothing reads', async () => {
    const message = 'stag is not a key that it reads: use -c stage=NAME';
    await expect(loadStageOf({ stag: 'prod' })).rejects.toThrow(message);
    await expect(loadStageOf({ stage: 'dev', stag: 'prod' })).rejects.toThrow(message);
  });
});
