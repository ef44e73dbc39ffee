/**
 * The customer's command: `sluice submit customers.csv --watch`. It needs the URL of an API and a key, and knows nothing of AWS.
 */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { connect } from './api.ts';
import { COMMANDS, type Command } from './commands.ts';
import { CommandError, EXIT, usageError, type ExitCode } from './errors.ts';
import type { ProgressStream } from './progress.ts';
import { defaultConfigFile, readSettings } from './settings.ts';

/** The streams and variables of a process. */
export interface Host {
  environment: Readonly<Record<string, string | undefined>>;
  input: NodeJS.ReadableStream;
  output: { write: (text: string) => unknown };
  terminal: ProgressStream;
}

const GENERAL = {
  url: { type: 'string' },
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies ParseArgsOptionsConfig;

/** Runs one command line; answers the exit code. Nothing that it writes contains the API key. */
export async function runSluice(args: readonly string[], host: Host): Promise<ExitCode> {
  const say = (line: string): void => void host.terminal.write(`${line}\n`);
  try {
    return await run(args, host);
  } catch (error) {
    if (error instanceof CommandError) {
      say(error.exitCode === EXIT.usage ? `${error.message}\nsluice --help tells more.` : error.message);
      return error.exitCode;
    }
    // A defect of ours: the stack helps to report it, the key is not in it.
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return EXIT.failed;
  }
}

async function run([name, ...args]: readonly string[], host: Host): Promise<ExitCode> {
  const print = (line: string): void => void host.output.write(`${line}\n`);
  if (name === undefined || name === '--help' || name === 'help') {
    print(help(host.environment));
    return name === undefined ? EXIT.usage : EXIT.done;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw usageError(`There is no command "${name}".`);
  const { values, positionals } = parse(command, args);
  if (values['help'] === true) {
    print(`sluice ${command.usage}\n  ${command.summary}`);
    return EXIT.done;
  }
  const [fewest, most] = command.operands;
  if (positionals.length < fewest || positionals.length > most) throw usageError(`Usage: sluice ${command.usage}`);
  const option = (key: string): string | undefined => (typeof values[key] === 'string' ? values[key] : undefined);
  const settings = await readSettings({ url: option('url'), config: option('config') }, host.environment);
  const { input, terminal } = host;
  return command.run({ client: connect(settings), print, terminal, input, options: values }, positionals);
}

function parse(command: Command, args: readonly string[]) {
  try {
    const options: ParseArgsOptionsConfig = { ...GENERAL, ...command.options };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: Object.fromEntries(Object.entries(values).filter(isSingle)), positionals };
  } catch (error) {
    throw usageError(`${error instanceof Error ? error.message : String(error)}\nUsage: sluice ${command.usage}`);
  }
}

const isSingle = (option: [string, unknown]): option is [string, string | boolean] => !Array.isArray(option[1]);

function help(environment: Host['environment']): string {
  const commands = Object.values(COMMANDS).map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `sluice: submit files, watch them, fetch what became of their records.

${commands.join('\n')}

Of every command: --url URL, --config FILE, --json (one JSON object a line), --help.
URL and key: --url, SLUICE_URL and SLUICE_KEY, or {"url": "…", "key": "…"} in ${defaultConfigFile(environment)}.

Exit codes: ${EXIT.done} done · ${EXIT.failed} failed here · ${EXIT.usage} usage · ${EXIT.refused} refused by the API · ${EXIT.unauthorized} key missing or not valid ·
  ${EXIT.recordsFailed} ended, records failed · ${EXIT.notProcessed} rejected, cancelled or expired · ${EXIT.unavailable} no answer · ${EXIT.damaged} results damaged`;
}

if (import.meta.main) {
  const { env: environment, stdin: input, stdout: output, stderr: terminal } = process;
  process.exitCode = await runSluice(process.argv.slice(2), { environment, input, output, terminal });
}
