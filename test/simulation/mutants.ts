import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFECTS, type Defect } from './defects.ts';
import { PROCESSES, ROOT, runSeeds } from './pool.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
    processes: { type: 'string', default: String(PROCESSES) },
  },
});

/** A copy of what the simulation needs, with one defect in it. */
function copyWith({ name, file, find, by }: Defect): string {
  const copy = mkdtempSync(join(tmpdir(), 'sluice-mutant-'));
  for (const part of ['lambdas', 'config', 'test/support', 'test/simulation', 'package.json']) {
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const path = join(copy, file);
  const parts = readFileSync(path, 'utf8').split(find);
  if (parts.length !== 2) {
    rmSync(copy, { recursive: true });
    throw new Error(
      `The defect "${name}" finds its place ${parts.length - 1} times in ${file}: correct it in defects.ts.`,
    );
  }
  writeFileSync(path, parts.join(by));
  return copy;
}

interface Verdict {
  defect: string;
  caughtBy: string | undefined;
  seeds: number;
}

async function judge(defect: Defect, count: number): Promise<Verdict> {
  const root = copyWith(defect);
  try {
    const reports = await runSeeds({ from: 1, count, root, processes: Number(values.processes) });
    const caught = reports.find(({ invariant }) => invariant !== undefined);
    return { defect: defect.name, caughtBy: caught?.invariant, seeds: reports.length };
  } finally {
    rmSync(root, { recursive: true });
  }
}

console.log(`${'defect'.padEnd(52)}${'caught by'.padEnd(32)}${'seeds'.padStart(5)}`);
let survivors = 0;
for (const defect of DEFECTS.filter(({ name }) => name.includes(values.only))) {
  const { caughtBy, seeds } = await judge(defect, Number(values.seeds));
  if (caughtBy === undefined) survivors += 1;
  console.log(`${defect.name.padEnd(52)}${(caughtBy ?? 'NOT CAUGHT').padEnd(32)}${String(seeds).padStart(5)}`);
}
console.log(survivors === 0 ? 'Every defect was caught.' : `${survivors} defects were not caught.`);
process.exitCode = survivors === 0 ? 0 : 1;
