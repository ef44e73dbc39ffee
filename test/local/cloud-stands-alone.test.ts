import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { PROVIDERS } from '../../config/providers.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const CLOUD = join(ROOT, 'local', 'cloud');

/** Words of this product's own. Where one of them stands in the local cloud, it knows what it runs. */
const WORDS = [
  'sluice',
  'tenant',
  'submission',
  'enrich',
  'fan-?out',
  'finaliz',
  'reconcil',
  'bulk ?lane',
  'small ?lane',
];

/** Environment variables that the functions of this product read, and routes that its API has. */
const VARIABLES = readdirSync(join(ROOT, 'lambdas'))
  .flatMap((name) => {
    try {
      return [readFileSync(join(ROOT, 'lambdas', name, 'env.ts'), 'utf8')];
    } catch {
      return [];
    }
  })
  .flatMap((source) => [...source.matchAll(/^\s+([A-Z][A-Z0-9]*_[A-Z0-9_]+):/gm)].map(([, name]) => name ?? ''))
  .filter((name) => !name.startsWith('AWS_'));
const PROVIDER_NAMES = PROVIDERS.map(({ name }) => `['"\`/]${name}\\b`);

const FORBIDDEN = new RegExp([...WORDS, ...PROVIDER_NAMES, ...VARIABLES, '/v1/'].join('|'), 'i');

const files = readdirSync(CLOUD, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

test('the local cloud names nothing of what this repository runs on it', () => {
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (FORBIDDEN.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );

  expect(VARIABLES.length).toBeGreaterThan(20);
  expect(found).toEqual([]);
});
