import { spawnSync } from 'node:child_process';
import { commandOf, createScratchProject } from './scratch-project.ts';

const READS_ENVIRONMENT = "export const value = process.env['X'];";

/** Where the code stands, the code, and the rules that must speak up; none where the code is fine. */
const SAMPLES: [place: string, source: string, ...rules: string[]][] = [
  ['lambdas/worker/a.ts', 'async function f() {} export const g = () => { f(); };', 'typescript(no-floating-promises)'],
  [
    'lambdas/worker/b.ts',
    'async function f() {} export const g = () => { void f(); };',
    'typescript(no-floating-promises)',
  ],
  ['local/b.ts', 'async function f() {} export const g = () => { void f(); };'],
  ['lib/a.ts', 'async function f() {} export const g = () => { f(); };', 'typescript(no-floating-promises)'],
  [
    'local/a.ts',
    'async function f() {} export const g = () => [1].forEach(async () => f());',
    'typescript(no-misused-promises)',
  ],
  ['lambdas/worker/c.ts', 'export const f = async (x: string) => { await x; };', 'typescript(await-thenable)'],
  ['lambdas/worker/d.ts', 'export const f = (x: any) => String(x);', 'typescript(no-explicit-any)'],
  ['lambdas/worker/e.ts', "export const f = JSON.parse('1') as { a: number };", 'typescript(no-unsafe-type-assertion)'],
  ['lambdas/worker/f.ts', 'export const f = (x: string[]) => x[0]!;', 'typescript(no-non-null-assertion)'],
  [
    'lambdas/worker/g.ts',
    "import { Stats } from 'node:fs'; export type S = Stats;",
    'typescript(consistent-type-imports)',
  ],
  ['lambdas/worker/h.ts', 'export const f = (g: () => void) => { try { g(); } catch {} };', 'eslint(no-empty)'],
  ['lambdas/worker/i.ts', "export const f = () => console.log('x');", 'eslint(no-console)'],
  ['lambdas/worker/j.ts', READS_ENVIRONMENT, 'eslint(no-restricted-properties)'],
  ['lambdas/worker/k.ts', 'export const { env } = process;', 'eslint(no-restricted-properties)'],
  [
    'lambdas/worker/l.ts',
    "import { env } from 'node:process'; export const value = env;",
    'eslint(no-restricted-imports)',
  ],
  ['cli/a.ts', READS_ENVIRONMENT, 'eslint(no-restricted-properties)'],
  ['lib/b.ts', READS_ENVIRONMENT, 'eslint(no-restricted-properties)'],
  ['test/a.ts', READS_ENVIRONMENT, 'eslint(no-restricted-properties)'],
  ['lambdas/worker/env.ts', READS_ENVIRONMENT],
  ['cli/environment.ts', READS_ENVIRONMENT],
  ['bin/a.ts', READS_ENVIRONMENT],
  ['lambdas/domain/a.ts', 'export const f = () => Date.now();', 'eslint(no-restricted-properties)'],
  ['lambdas/domain/b.ts', 'export const f = () => new Date();', 'sluice(no-ambient-date)'],
  ['lambdas/domain/c.ts', 'export const f = () => Date();', 'sluice(no-ambient-date)'],
  ['lambdas/domain/d.ts', 'export const f = (ms: number) => new Date(ms);'],
  ['lambdas/domain/e.ts', 'export const f = () => Math.random();', 'eslint(no-restricted-properties)'],
  ['lambdas/domain/f.ts', 'export const f = (g: () => void) => setTimeout(g, 1);', 'eslint(no-restricted-globals)'],
  ['lambdas/domain/g.ts', 'export const f = (g: () => void) => setInterval(g, 1);', 'eslint(no-restricted-globals)'],
  ['lambdas/domain/h.ts', 'export const f = () => globalThis.Date.now();', 'eslint(no-restricted-globals)'],
  [
    'lambdas/domain/i.ts',
    "import { randomUUID } from 'node:crypto'; export const f = () => randomUUID();",
    'eslint(no-restricted-imports)',
  ],
  ['lambdas/domain/j.ts', "import { createHash } from 'node:crypto'; export const f = () => createHash('md5');"],
  ['test/b.test.ts', "it.only('a', () => { expect(1).toBe(1); });", 'jest(no-focused-tests)'],
  ['test/c.test.ts', "it.skip('a', () => { expect(1).toBe(1); });", 'jest(no-disabled-tests)'],
  ['test/d.test.ts', "it('a', () => { [].toString(); });", 'jest(expect-expect)'],
];

interface Finding {
  code: string;
  filename: string;
}

describe('the lint rules', () => {
  let findings: Finding[];

  beforeAll(() => {
    const project = createScratchProject(Object.fromEntries(SAMPLES.map(([place, source]) => [place, source])));
    const { stdout } = spawnSync(
      process.execPath,
      [commandOf('oxlint/bin/oxlint'), '--format=json', 'bin', 'cli', 'lambdas', 'lib', 'local', 'test'],
      { cwd: project.directory, encoding: 'utf8' },
    );
    project.remove();
    findings = (JSON.parse(stdout) as { diagnostics: Finding[] }).diagnostics;
  });

  it.each(SAMPLES)('judge %s: %s', (place, _source, ...expected) => {
    const rules = new Set(findings.filter(({ filename }) => filename === place).map(({ code }) => code));

    expect([...rules].sort()).toEqual(expected);
  });
});
