import dev from '../../config/stages/dev.ts';
import { StageError } from '../../config/stage.ts';
import { loadStage } from '../../lib/load-stage.ts';

describe('the stage that is asked for', () => {
  it('is the one of the file with its name', async () => {
    expect(await loadStage('dev')).toEqual(dev);
  });

  it.each(['staging', '../dev', '', undefined, 7])('is refused when it is %j, naming those there are', async (name) => {
    await expect(loadStage(name)).rejects.toThrow(StageError);
    await expect(loadStage(name)).rejects.toThrow(/use -c stage=NAME with one of dev, prod/);
  });
});
