import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { DEFECTS } from './defects.ts';
import { ROOT } from './pool.ts';

it.each(DEFECTS)('the defect "$name" has exactly one place', ({ file, find, by }) => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  expect(source.split(find)).toHaveLength(2);
  expect(source.replace(find, () => by)).not.toBe(source);
});
