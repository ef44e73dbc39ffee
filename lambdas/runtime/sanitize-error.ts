import { SluiceError } from '../domain/errors.ts';

const FRAME = /^\s+at .*:\d+:\d+\)?$/;

/** The places in a stack, innermost first, without the error's message: that may be of many lines, and look like places too. */
export function framesOf({ stack = '', message }: Error): string[] {
  const at = stack.indexOf(message);
  const places = at < 0 ? stack : stack.slice(at + message.length);
  return places
    .split('\n')
    .filter((line) => FRAME.test(line))
    .map((line) => line.trim());
}

/**
 * What a function may end with: Lambda itself writes name, message and stack of it into the log. The words of an error that is
 * not ours stay inside, since a parser quotes what it could not read; what remains is its name and the place.
 */
export function sanitizeError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const isError = error instanceof Error;
  const ours = new SluiceError(`An unexpected ${isError ? error.name : typeof error} ended the invocation.`);
  const frames = isError ? framesOf(error).map((frame) => `    ${frame}`) : [];
  ours.stack = [`${ours.name}: ${ours.message}`, ...frames].join('\n');
  return ours;
}
