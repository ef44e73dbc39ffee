import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import prod from '../config/stages/prod.ts';
import { SECTIONS, sectionsOf, withSection } from '../lib/security-document.ts';

/* `npm run grants`: writes who may do what, from the templates, into docs/security.md. */
const FILE = join(import.meta.dirname, '..', 'docs', 'security.md');

const before = await readFile(FILE, 'utf8');
let document = before;
const sections = sectionsOf(prod);
for (const section of SECTIONS) document = withSection(document, section, sections[section]);
if (document !== before) await writeFile(FILE, document);
console.log(document === before ? 'docs/security.md agrees with the templates.' : 'docs/security.md was updated.');
