import { spawnSync } from 'node:child_process';
import { commandOf, createScratchProject } from './scratch-project.ts';

/** Modules that the samples below import. */
const MODULES = {
  'bin/app.ts': 'export const value = 1;',
  'cli/client.ts': 'export const value = 1;',
  'config/stage.ts': 'export const value = 1; export type Value = number;',
  'lambdas/adapters/store.ts': 'export const value = 1; export type Value = number;',
  'lambdas/domain/capacity.ts': 'export const value = 1;',
  'lambdas/domain/model.ts': 'export const value = 1; export type Value = number;',
  'lambdas/runtime/logger.ts': 'export const value = 1;',
  'lambdas/status/env.ts': 'export const value = 1;',
  'lambdas/worker/env.ts': 'export const value = 1;',
  'lambdas/worker/handler.ts': 'export const value = 1;',
  'lib/constructs/lane.ts': 'export const value = 1;',
  'local/cloud/cloud.ts': 'export const value = 1;',
  'local/cloud/index.ts': 'export const value = 1;',
  'test/support/factory.ts': 'export const value = 1;',
};

/** Where the import stands, what it says, and the rules that must speak up; none where the import is fine. */
const SAMPLES: [place: string, source: string, ...rules: string[]][] = [
  ['lambdas/domain/a.ts', "import * as v from 'valibot'; import { createHash } from 'node:crypto';"],
  ['lambdas/domain/b.ts', "import type { Value } from '../../config/stage.ts';"],
  ['lambdas/domain/c.ts', "import { value } from '../../config/stage.ts';", 'domain-takes-config-as-parameter'],
  ['lambdas/domain/d.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", 'domain-is-pure'],
  ['lambdas/domain/e.ts', "import { readFile } from 'node:fs/promises';", 'domain-is-pure'],
  ['lambdas/domain/f.ts', "import type { Value } from '../adapters/store.ts';", 'domain-is-pure'],
  ['lambdas/domain/g.ts', "import { value } from '../runtime/logger.ts';", 'domain-is-pure'],
  ['lambdas/domain/h.ts', "import { value } from './i.ts'; export const other = value;", 'no-cycles'],
  ['lambdas/domain/i.ts', "import { other } from './h.ts'; export const value = other;", 'no-cycles'],
  ['lambdas/adapters/a.ts', "import { value } from '../domain/model.ts';"],
  ['lambdas/adapters/b.ts', "import { value } from '../runtime/logger.ts';", 'adapters-know-the-domain'],
  ['lambdas/runtime/a.ts', "import { value } from '../adapters/store.ts';", 'runtime-knows-the-domain'],
  ['lambdas/worker/a.ts', "import { value } from './env.ts'; import { value as b } from '../../config/stage.ts';"],
  ['lambdas/worker/b.ts', "import { value } from '../status/env.ts';", 'functions-are-separate'],
  ['lambdas/worker/c.ts', "import { Stack } from 'aws-cdk-lib';", 'functions-are-not-infrastructure'],
  ['lambdas/worker/d.ts', "import { value } from '../../lib/constructs/lane.ts';", 'functions-are-not-infrastructure'],
  [
    'lambdas/worker/e.ts',
    "import { value } from '../../local/cloud/index.ts';",
    'functions-are-not-infrastructure',
    'local-is-a-tool',
  ],
  ['lambdas/worker/f.ts', "import fc from 'fast-check';", 'deployed-code-needs-no-dev-dependency'],
  ['lambdas/submit/env.ts', "import { S3Client } from '@aws-sdk/client-s3';", 'env-is-light'],
  [
    'lib/a.ts',
    "import { value } from '../lambdas/worker/env.ts'; import type { Value } from '../lambdas/domain/model.ts';",
  ],
  [
    'lib/b.ts',
    "import { value } from '../lambdas/domain/capacity.ts'; import { value as b } from '../config/stage.ts';",
  ],
  ['lib/c.ts', "import { value } from '../lambdas/worker/handler.ts';", 'infrastructure-knows-environments'],
  ['lib/d.ts', "import { value } from '../cli/client.ts';", 'infrastructure-stands-alone'],
  ['config/a.ts', "import { value } from '../lambdas/adapters/store.ts';", 'config-is-data'],
  ['local/a.ts', "import { buildApp } from 'fauxqs'; import { value } from '../lambdas/domain/model.ts';"],
  ['local/b.ts', "import { value } from '../lib/constructs/lane.ts';", 'local-runs-templates'],
  ['local/cloud/a.ts', "import { value } from '../../lambdas/domain/model.ts';", 'local-cloud-stands-alone'],
  ['local/c.ts', "import { value } from './cloud/cloud.ts';", 'local-cloud-has-one-face'],
  ['local/cloud/b.ts', "import { value } from './cloud.ts';"],
  ['cli/a.ts', "import { value } from '../local/cloud/index.ts';"],
  ['cli/b.ts', "import { buildApp } from 'fauxqs';", 'emulators-stay-local'],
  ['cli/c.ts', "import { value } from '../test/support/factory.ts';", 'tests-are-leaves'],
  ['cli/d.ts', "import { value } from './nowhere.ts';", 'resolvable'],
  ['cli/e.ts', "import type { Client } from '@smithy/types';", 'listed-packages-only'],
];

interface Violation {
  from: string;
  cycle?: { name: string }[];
  rule: { name: string };
}

describe('the import rules', () => {
  let violations: Violation[];

  beforeAll(() => {
    const samples = Object.fromEntries(SAMPLES.map(([place, source]) => [place, source]));
    const project = createScratchProject({ ...MODULES, ...samples });
    const command = commandOf('dependency-cruiser/bin/dependency-cruise.mjs');
    const { stdout } = spawnSync(
      process.execPath,
      [command, '--config=.dependency-cruiser.cjs', '--output-type=json', 'cli', 'config', 'lambdas', 'lib', 'local'],
      { cwd: project.directory, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    );
    project.remove();
    violations = (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
  });

  it.each(SAMPLES)('judge %s: %s', (place, _source, ...expected) => {
    const concerns = ({ from, cycle = [] }: Violation) => from === place || cycle.some(({ name }) => name === place);
    const rules = new Set(violations.filter(concerns).map(({ rule: { name } }) => name));

    expect([...rules].sort()).toEqual(expected);
  });
});
