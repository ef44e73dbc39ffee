import * as v from 'valibot';
import { SluiceError } from './errors.ts';

/*
 * Two versions of Sluice run side by side during a deployment and its rollback, see docs/upgrading.md. Readers ignore members that they do
 * not know, keep codes that they do not know, and hand back what has a newer major version.
 */

/**
 * A message or an item was written by a newer major version. It is no garbage: leave it where it is, or hand it back, for a process of that
 * version. Retryable, since that process may be running already.
 */
export class UnsupportedVersionError extends SluiceError {
  constructor(what: string, problem: string) {
    super(`${what} ${problem}. A newer version of Sluice wrote it: finish the deployment, or roll forward again.`, {
      retryable: true,
    });
  }
}

/** A code (reason, state, kind of answer) that a newer version wrote: it is kept and shown as it is. */
export type UnknownCode = string & { readonly unknownCode: true };

const CODE = /^[a-z][a-z0-9_]{0,63}$/;
/** True for a text of the form that codes have. */
export const isCode = (value: unknown): value is UnknownCode => typeof value === 'string' && CODE.test(value);
export const codeSchema = v.custom<UnknownCode>(isCode, 'a code is required');

/** One of the known codes, or one that a newer version wrote. */
export const openPicklist = <const T extends readonly string[]>(known: T) => v.union([v.picklist(known), codeSchema]);

const versioned = v.object({ v: v.pipe(v.number(), v.integer()) });

/**
 * Refuses a value with a member `v` above `supported`; without one its version is 1.
 *
 * @param what - What an error calls it, for example `The record message`.
 * @throws UnsupportedVersionError
 */
export function refuseNewerVersion(what: string, value: unknown, supported: number): void {
  const parsed = v.safeParse(versioned, value);
  if (!parsed.success || parsed.output.v <= supported) return;
  throw new UnsupportedVersionError(what, `has version ${parsed.output.v}, above ${supported}`);
}
