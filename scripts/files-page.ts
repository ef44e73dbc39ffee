/** Brings the tables of docs/files.md up to date with the catalogues of codes and reasons: `npm run files`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { filesPage } from './files-tables.ts';

const PAGE = join(resolve(import.meta.dirname, '..'), 'docs', 'files.md');
const before = readFileSync(PAGE, 'utf8');
const page = await format(filesPage(before), { ...(await resolveConfig(PAGE)), filepath: PAGE });
writeFileSync(PAGE, page);
console.log(page === before ? 'docs/files.md is up to date.' : 'docs/files.md is written anew.');
