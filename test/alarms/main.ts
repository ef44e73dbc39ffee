import { parseArgs } from 'node:util';
import { runDrill, shortcomings, type DrillResult } from './drill.ts';
import { DRILLS } from './drills/all.ts';
import { synthesizedStage } from './stage.ts';
import { tableOf } from './table.ts';

const USAGE = `npm run drill -- alarms [TEXT]        runs every drill of the alarms, or those with TEXT in their fault or alarms
  --stage NAME    stage under config/stages whose alarms are drilled (prod)
  --seed S        seed of the simulation (1)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    stage: { type: 'string', default: 'prod' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  const [text = ''] = positionals;
  const stage = await synthesizedStage(values.stage);
  const drills = DRILLS.filter(({ fault, rings }) =>
    [fault, ...Object.keys(rings)].some((part) => part.includes(text)),
  );
  const results: DrillResult[] = [];
  const broken: string[] = [];
  for (const drill of drills) {
    const result = await runDrill(stage, drill, Number(values.seed));
    results.push(result);
    broken.push(...shortcomings(result).map((what) => `${drill.fault}: ${what}`));
    console.error(`${results.length} of ${drills.length}: ${drill.fault}`);
  }
  console.log(tableOf(results));
  console.log(broken.length === 0 ? '\nEvery alarm rang in time, and no other.' : `\n${broken.join('\n')}`);
  return broken.length === 0 ? 0 : 1;
}

if (values.help) console.log(USAGE);
else process.exitCode = await main();
