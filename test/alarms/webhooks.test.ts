import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { runDrill, shortcomings } from './drill.ts';
import { PREVIEW_DRILLS } from './drills/preview.ts';
import { WEBHOOK_DRILLS } from './drills/webhooks.ts';
import { synthesizedStage, type SynthesizedStage } from './stage.ts';

// Up to hours of virtual time each; the first one waits for the synthesis.
jest.setTimeout(300_000);

let stage: SynthesizedStage;
beforeAll(async () => {
  stage = await synthesizedStage('prod');
});

describe('exactly the right alarms ring in time, and are silent after the fix, when', () => {
  it.each([...WEBHOOK_DRILLS, ...PREVIEW_DRILLS].map((drill) => [drill.fault, drill] as const))(
    '%s',
    async (_, drill) => {
      expect(shortcomings(await runDrill(stage, drill))).toEqual([]);
    },
  );
});
