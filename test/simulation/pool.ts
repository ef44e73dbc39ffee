import { fork } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SeedReport } from './batch.ts';

/** Cores that are used unless the caller says otherwise. */
export const PROCESSES = 2;

/** The tree of this file. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Runs seeds in processes of their own with the code of `root`, until one breaks an invariant. Throws when a process ends before it is
 * through.
 */
export async function runSeeds(
  {
    from,
    count,
    root = ROOT,
    processes = PROCESSES,
  }: { from: number; count: number; root?: string; processes?: number },
  hear: (report: SeedReport) => void = () => undefined,
): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  const step = Math.min(processes, count);
  const children = Array.from({ length: step }, (_, index) =>
    fork(
      new URL('test/simulation/batch.ts', pathToFileURL(`${root}/`)),
      ['seeds', from + index, from + count, step].map(String),
    ),
  );
  const failed = (): boolean => reports.some(({ invariant }) => invariant !== undefined);
  for (const child of children) {
    child.on('message', (report: SeedReport) => {
      reports.push(report);
      hear(report);
      if (failed()) for (const each of children) each.kill();
    });
  }
  await Promise.all(children.map(async (child) => new Promise((resolve) => child.on('close', resolve))));
  if (reports.length < count && !failed()) {
    throw new Error(`Only ${reports.length} of ${count} seeds were run: a process ended early.`);
  }
  return reports;
}
