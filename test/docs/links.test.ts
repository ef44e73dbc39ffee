import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((page) => join('docs', page)),
].filter((page) => page.endsWith('.md'));

/** Targets of the links to files, without their anchors. */
const filesIn = (text: string): string[] =>
  [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);

test.each(pages)('%s links to files that exist', (page) => {
  const targets = filesIn(readFileSync(join(root, page), 'utf8'));
  expect(targets.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});

test('the glossary names a file for every term, and each term once', () => {
  const rows = readFileSync(join(root, 'docs', 'glossary.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:term|-)/.test(line));
  const terms = rows.map((row) => row.split('|')[1]?.trim());
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter((row) => filesIn(row).length !== 1)).toEqual([]);
  expect(new Set(terms).size).toBe(terms.length);
});
