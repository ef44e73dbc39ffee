import { LocalCloudError } from './cloud/index.ts';
import { LocalError } from './errors.ts';

/**
 * Runs a command and ends the process with its exit code. An error that the person at the command line can correct is printed as a
 * sentence, without a stack.
 *
 * @param main returns the exit code
 */
export async function runCommand(main: (args: readonly string[]) => Promise<number>): Promise<never> {
  try {
    process.exit(await main(process.argv.slice(2)));
  } catch (error) {
    const isExpected = [LocalCloudError, LocalError, RangeError].some((type) => error instanceof type);
    console.error(isExpected && error instanceof Error ? `${error.message}\n` : error);
    process.exit(1);
  }
}
