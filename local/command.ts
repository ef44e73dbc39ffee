import { LocalCloudError } from './cloud/errors.ts';

/**
 * Runs a command to its end, which its exit code is. What the person at the command line can correct is said in a sentence, without a
 * stack.
 *
 * @param main returns the exit code
 */
export async function runCommand(main: (args: readonly string[]) => Promise<number>): Promise<never> {
  try {
    process.exit(await main(process.argv.slice(2)));
  } catch (error) {
    const isMistake = error instanceof LocalCloudError || error instanceof RangeError;
    console.error(isMistake ? `${error.message}\n` : error);
    process.exit(1);
  }
}
