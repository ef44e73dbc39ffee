/**
 * Breaks things on purpose while records run, and shows that nothing is lost: `npm run drill`, or one drill by its name.
 */
import { markdownTable } from 'markdown-table';
import { runCommand } from '../command.ts';
import { parseOptions, wholeNumber } from '../options.ts';
import { runUntilStopped } from '../shutdown.ts';
import type { DrillReport } from './account.ts';
import { runAlarmDrills } from './alarms.ts';
import { drillOf, DRILLS } from './drills.ts';
import { runPermissionDrill } from './permissions.ts';
import { startRig } from './rig.ts';

const USAGE = `Usage: npm run drill -- [name] [options]
  --records N  records of the file (default: as below)
  --json       last line of standard output: one JSON array with what became of the records

${DRILLS.map(({ name, summary, records }) => `  ${name.padEnd(12)} ${String(records).padStart(5)} records; ${summary}`).join('\n')}

  permissions                every statement of every role is taken away and given back (-- permissions --help)
  alarms                     every alarm rings by its fault in time, and no other; in virtual time (-- alarms --help)

Each drill runs on a local cloud of its own. So that they take minutes and not hours, a message that a dead worker held comes
back after seconds where workers are killed, and what is lost is looked for as soon as all queues are empty.`;

const COLUMNS: readonly (keyof DrillReport)[] = [
  'drill',
  'state',
  'records',
  'accounted',
  'goodFailed',
  'blank',
  'extraCallsPercent',
  'throttledCalls',
  'failedCalls',
  'doubleOutcomes',
  'retried',
  'seconds',
];

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'alarms') return runAlarmDrills(args.slice(1));
  if (args[0] === 'permissions') return runPermissionDrill(args.slice(1));
  const named = args[0] !== undefined && !args[0].startsWith('-');
  const values = parseOptions(
    named ? args.slice(1) : args,
    { records: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
    USAGE,
  );
  if (values['help'] === true) return say(USAGE);
  const drills = named ? [drillOf(args[0] ?? '')] : DRILLS;
  const records = wholeNumber(values, 'records', 1, 100_000);
  const reports: DrillReport[] = [];
  for (const drill of drills) {
    say(`${drill.name}: ${drill.summary} …`);
    const report = await runAlone(drill, records === undefined ? {} : { records });
    say(`  ${report.state} after ${report.seconds} s; ${report.disturbance}.`);
    reports.push(report);
  }
  say(`\n${tableOf(reports)}`);
  if (values['json'] === true) say(JSON.stringify(reports));
  return reports.every(isKept) ? 0 : 1;
}

async function runAlone(drill: (typeof DRILLS)[number], size: { records?: number }): Promise<DrillReport> {
  const startup = startRig();
  void runUntilStopped(async () => {
    await (await startup).stop();
    process.exit(130);
  });
  const rig = await startup;
  try {
    return await drill.run(rig, size);
  } finally {
    await rig.stop();
  }
}

/** What every drill must show, whatever was done to it. */
const isKept = ({ records, accounted, goodFailed, blank, doubleOutcomes }: DrillReport): boolean =>
  accounted === records && goodFailed + blank + doubleOutcomes === 0;

function tableOf(reports: readonly DrillReport[]): string {
  const rows = [COLUMNS.map(String), ...reports.map((report) => COLUMNS.map((column) => String(report[column])))];
  return markdownTable(rows, { align: ['left', 'left', ...COLUMNS.slice(2).map(() => 'right')] });
}

function say(text: string): number {
  console.log(text);
  return 0;
}

await runCommand(main);
