import { SluiceError } from '../lambdas/domain/errors.ts';

/** The arguments do not make a command. */
export class UsageError extends SluiceError {}

/** Mistakes in the arguments and services that do not answer are told in a sentence; anything else is a defect with a stack. */
export function reportFailure(error: unknown, usage: string): void {
  process.exitCode = 1;
  if (error instanceof UsageError || isUnknownOption(error)) console.error(`${error.message}\n\n${usage}`);
  else if (error instanceof SluiceError) console.error(error.message);
  else throw error;
}

const isUnknownOption = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
