/**
 * Prints how many lines the project has, by area and directory, and the files above 300 lines. It informs and does not fail.
 * Blank lines and comments count; generated and installed files do not.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const LARGE = 300;
const PRODUCT = ['bin', 'cli', 'config', 'lambdas', 'lib'];

/** @param {string} file @returns {[area: string, directory: string]} */
function placeOf(file) {
  const [first = '', second = '', third = ''] = file.split('/');
  if (first === 'test' || file.startsWith('local/cloud/test/'))
    return ['test', first === 'test' ? `test/${second}` : 'local/cloud/test'];
  if (first !== 'local')
    return [PRODUCT.includes(first) ? 'product' : 'scripts', second.includes('.') ? first : `${first}/${second}`];
  return [
    'local',
    [first, second, second === 'cloud' ? third : ''].filter((part) => part !== '' && !part.includes('.')).join('/'),
  ];
}

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' }).split(
  '\n',
);
const files = [...new Set(listed)]
  .filter((file) => /\.(ts|mts|mjs|cjs)$/.test(file) && file.includes('/') && existsSync(resolve(ROOT, file)))
  .map((file) => ({ file, lines: readFileSync(resolve(ROOT, file), 'utf8').split('\n').length - 1 }));

/** @type {Record<string, Record<string, number>>} */
const areas = {};
for (const { file, lines } of files) {
  const [area, directory] = placeOf(file);
  const directories = (areas[area] ??= {});
  directories[directory] = (directories[directory] ?? 0) + lines;
}

/** @param {string} name @param {number} lines */
const row = (name, lines) => console.log(`${name.padEnd(32)}${lines.toLocaleString('en').padStart(8)}`);

for (const area of ['product', 'local', 'test', 'scripts']) {
  const directories = Object.entries(areas[area] ?? {}).sort(([a], [b]) => a.localeCompare(b));
  row(
    area,
    directories.reduce((sum, [, lines]) => sum + lines, 0),
  );
  for (const [directory, lines] of directories) row(`  ${directory}`, lines);
}
const large = files.filter(({ lines }) => lines > LARGE).sort((a, b) => b.lines - a.lines);
row(`\nfiles above ${LARGE} lines`, large.length);
for (const { file, lines } of large) row(`  ${file}`, lines);
