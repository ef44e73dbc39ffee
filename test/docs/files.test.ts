import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { filesPage } from '../../scripts/files-tables.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'files.md');

test('the page for customers says what the catalogues say; `npm run files` writes it anew', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const made = await format(filesPage(page), { ...(await resolveConfig(PAGE)), filepath: PAGE });
  expect(page).toBe(made);
});
