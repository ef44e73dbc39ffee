import { CRM } from './crm.ts';
import { DATABASES } from './databases.ts';
import { SPREADSHEETS } from './spreadsheets.ts';
import { STATISTICS } from './statistics.ts';
import type { CorpusFile } from './corpus.ts';

/** Files as real programs export them. */
export const CORPUS: readonly CorpusFile[] = [...CRM, ...SPREADSHEETS, ...DATABASES, ...STATISTICS];
