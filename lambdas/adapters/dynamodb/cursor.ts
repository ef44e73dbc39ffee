import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { InvalidCursorError } from '../../domain/errors.ts';

const CHECK_LENGTH = 16;

/** Binds a position to the list it was given for. It keeps no secret: a forged cursor reaches nothing but its own list. */
const checkOf = (scope: string, position: string): string =>
  createHash('sha256').update(`${scope}\n${position}`).digest('hex').slice(0, CHECK_LENGTH);

/**
 * Makes a position in a list opaque.
 *
 * @param scope - Whose list it is; the cursor is refused for any other.
 */
export function encodeCursor(scope: string, position: unknown): string {
  const text = JSON.stringify(position);
  return Buffer.from(checkOf(scope, text) + text).toString('base64url');
}

/** Reads a cursor back. Throws {@link InvalidCursorError} for one that {@link encodeCursor} did not make for this scope. */
export function decodeCursor<S extends v.GenericSchema>(scope: string, schema: S, cursor: string): v.InferOutput<S> {
  const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
  const text = decoded.slice(CHECK_LENGTH);
  const refusal = new InvalidCursorError('The cursor is not one that this list gave: begin again without a cursor.');
  if (decoded.slice(0, CHECK_LENGTH) !== checkOf(scope, text)) throw refusal;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (!parsed.success) throw refusal;
  return parsed.output;
}
