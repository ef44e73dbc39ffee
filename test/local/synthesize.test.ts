import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { synthesize } from '../../local/synthesize.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

/** An app that writes what it was given, and how often it ran, instead of using the CDK. */
const APP = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
const out = process.env.CDK_OUTDIR;
const context = JSON.parse(process.env.CDK_CONTEXT_JSON);
appendFileSync('runs', 'x');
if (context.stage === 'broken') throw new Error('no such stage');
mkdirSync(out, { recursive: true });
writeFileSync(out + '/manifest.json', JSON.stringify(context));
`;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'project-'));
  for (const directory of ['bin', 'lib', 'config', 'lambdas']) mkdirSync(join(root, directory));
  cpSync(join(ROOT, 'scripts'), join(root, 'scripts'), { recursive: true });
  cpSync(join(ROOT, '.nvmrc'), join(root, '.nvmrc'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeFileSync(join(root, 'cdk.json'), '{"context":{"flag":true}}');
  writeFileSync(join(root, 'bin', 'app.ts'), APP);
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const runs = (): number => readFileSync(join(root, 'runs'), 'utf8').length;

test("the app gets the stage and the context of cdk.json, as from the CDK's own command line", async () => {
  const directory = await synthesize({ stage: 'dev', root, context: { extra: 'given' } });
  const context: unknown = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
  expect(context).toMatchObject({ flag: true, stage: 'dev', extra: 'given', 'aws:cdk:enable-path-metadata': true });
});

test('a second start reuses the assembly until an input changes', async () => {
  const first = await synthesize({ stage: 'dev', root });
  expect(await synthesize({ stage: 'dev', root })).toBe(first);
  expect(runs()).toBe(1);
  writeFileSync(join(root, 'lambdas', 'new.ts'), '');
  expect(await synthesize({ stage: 'dev', root })).not.toBe(first);
  expect(await synthesize({ stage: 'prod', root })).not.toBe(first);
  expect(runs()).toBe(3);
});

test('starts at the same time end with one assembly, and leave nothing else behind', async () => {
  const directories = await Promise.all(Array.from({ length: 3 }, () => synthesize({ stage: 'dev', root })));
  expect(new Set(directories).size).toBe(1);
  expect(readdirSync(join(root, '.local'))).toHaveLength(1);
});

test("a failing app's own words are in the error, and nothing is kept", async () => {
  await expect(synthesize({ stage: 'broken', root })).rejects.toThrow(/ended with code 1:[\s\S]*no such stage/);
  expect(readdirSync(join(root, '.local'))).toEqual([]);
});

test('assemblies that nothing used for a week are removed', async () => {
  const old = await synthesize({ stage: 'dev', root });
  const longAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
  utimesSync(old, longAgo, longAgo);
  const recent = await synthesize({ stage: 'prod', root });
  expect(readdirSync(join(root, '.local'))).toEqual([recent.split('/').pop()]);
});
