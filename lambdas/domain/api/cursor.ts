import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ProblemError } from './problems.ts';

const CHECK_LENGTH = 16;

/** Raised when positions change their meaning: cursors of before are then refused instead of misread. */
const VERSION = 'c1';

const checkOf = (scope: readonly string[], position: string): string =>
  createHash('sha256')
    .update(JSON.stringify([VERSION, ...scope, position]))
    .digest('hex')
    .slice(0, CHECK_LENGTH);

/**
 * Makes a position in a list opaque, and binds it to the list: tenant, submission and filters. It keeps no secret. Whoever
 * forges one reaches nothing but another place of the same list, since every page is read in the name of the caller.
 */
export function encodeCursor(scope: readonly string[], position: unknown): string {
  const text = JSON.stringify(position);
  return Buffer.from(checkOf(scope, text) + text).toString('base64url');
}

/** Reads a cursor back. Throws ProblemError `invalid_cursor` for one that was not made for this list. */
export function decodeCursor<S extends v.GenericSchema>(
  scope: readonly string[],
  schema: S,
  cursor: string,
): v.InferOutput<S> {
  const decoded = Buffer.from(cursor, 'base64url');
  const text = decoded.toString('utf8').slice(CHECK_LENGTH);
  // Decoding overlooks what does not belong there; only what is written back the same was given like this.
  const isOurs = decoded.toString('base64url') === cursor && decoded.toString().startsWith(checkOf(scope, text));
  const parsed = isOurs ? v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text) : undefined;
  if (parsed?.success) return parsed.output;
  throw invalidCursor();
}

export const invalidCursor = (cause?: unknown): ProblemError =>
  new ProblemError(
    'invalid_cursor',
    'Use the cursor that the page before gave, with the same filters, or begin again without one.',
    { errors: [{ parameter: 'cursor', detail: 'not a cursor of this list' }], cause },
  );
