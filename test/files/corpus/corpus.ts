import type { Profile } from '../../../lambdas/domain/profiles/profile.ts';

/** What is looked up for a record of the corpus. */
export interface Company {
  record_id: string;
  domain: string;
  country: string;
  postal_code: string;
}

/** The companies that every file of the corpus is about, unless it says otherwise. */
export const MUELLER: Company = { record_id: 'C-1001', domain: 'mueller.example', country: 'DE', postal_code: '01067' };
export const ACME: Company = { record_id: 'C-1002', domain: 'acme.example', country: 'US', postal_code: '02134' };
export const CAFE: Company = { record_id: 'C-1003', domain: 'cafe-ete.example', country: 'FR', postal_code: '75001' };
export const COMPANIES: readonly Company[] = [MUELLER, ACME, CAFE];

/** A file as a program exports it, with the profile that a customer writes for it. */
export interface CorpusFile {
  /** Name of the file. */
  name: string;
  /** What writes such files. */
  of: string;
  bytes: string | Uint8Array;
  profile?: Profile;
  /** What is looked up for the records that succeed, in order; {@link COMPANIES} where it is absent. */
  records?: readonly Partial<Company>[];
  /** Records that fail: number, line, reason and a part of the detail. */
  failed?: readonly [recordNo: number, line: number, reason: string, detail: string][];
  /** The file is refused: code and a part of the message. */
  rejected?: readonly [code: string, message: string];
}

export const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;
export const crlf = (...all: readonly string[]): string => `${all.join('\r\n')}\r\n`;
