/** Brings docs/capacity.md up to date with the stages, the prices and the counted operations: `npm run capacity`. */
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { currentPage } from './page.ts';

const PAGE = resolve(import.meta.dirname, '..', '..', 'docs', 'capacity.md');

const before = await readFile(PAGE, 'utf8');
const page = await currentPage(before);
await writeFile(PAGE, page);
console.log(page === before ? 'docs/capacity.md is up to date.' : 'docs/capacity.md is written anew.');
