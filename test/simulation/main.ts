import { planOf } from './plan.ts';
import { run } from './run.ts';

const from = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 10);
for (let seed = from; seed < from + count; seed++) {
  const t = process.cpuUsage();
  const result = await run(planOf(seed), { trace: process.argv[4] === 'trace' });
  console.log(
    seed,
    Date.now() - t,
    'ms',
    result.events,
    (result.virtualMs / 3600000).toFixed(2),
    JSON.stringify(result.stats),
    result.violation ?? '',
  );
  if (process.argv[4] === 'trace') console.log(result.lines.slice(-200).join('\n'));
}
