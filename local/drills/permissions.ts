import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { markdownTable } from 'markdown-table';
import type { StatementReference } from '../cloud/index.ts';
import { writeGeneratedFile } from '../demo/generate.ts';
import { parseOptions, textOption, wholeNumber } from '../options.ts';
import { account, beginCount } from './account.ts';
import { synthesizeKeyed } from './changed-project.ts';
import {
  isClosed,
  reconcileNow,
  startRig,
  submitCompressed,
  submitGenerated,
  submitText,
  untilFinished,
  type Rig,
} from './rig.ts';
import { waitFor } from './wait.ts';

const USAGE = `Usage: npm run drill -- permissions [options]
  --only TEXT  statements whose name contains this, such as "finalizer" or "worker bulk WriteOutcomes"
  --key        the key of a stage that has one of its own, in place of the statements of the functions
  --records N  records of the file that is open meanwhile (default: 1000)
  --json       last line of standard output: one JSON array

Each statement of each function is withheld while a file is open, until a call was denied and some seconds more, and given back.
Redrive is run meanwhile, over the failed records of the file, and once more after the return.
A statement that nothing asks for while the file runs is listed with 0 denials.`;

/** How long a statement stays away after its first denial. */
const HOLD_MS = 5_000;
/** A file of so many records goes to the small lane. */
const SMALL_LANE_RECORDS = 400;
/** Within this time a statement that the file needs was asked for. */
const DENIAL_WAIT_MS = 90_000;
const END_WAIT_MS = 600_000;
const EVERY_MS = 1_000;
/** Functions that answer the API: a request must provoke the denial. */
const API_FUNCTIONS = ['authorizer', 'submit', 'status', 'preview'];
/**
 * Statements whose loss the function itself does not notice: its event source polls with the role, and Lambda writes the log. The
 * alarms about waiting work find the first; the second hides lines and changes nothing.
 */
const UNNOTICED = ['ConsumeQueue', 'WriteOwnLog'];

interface PermissionReport {
  readonly statement: string;
  readonly denials: number;
  readonly state: string;
  readonly lost: number;
  readonly blank: number;
  readonly doubled: number;
  readonly goodFailed: number;
  /** Whether the function counted what its alarm looks at; undefined without a denial, and where the function cannot notice. */
  readonly alarm: boolean | undefined;
  /** From the return of the statement to the end of the submission. */
  readonly secondsAfter: number;
}

const COLUMNS: readonly (keyof PermissionReport)[] = [
  'statement',
  'denials',
  'state',
  'lost',
  'blank',
  'doubled',
  'goodFailed',
  'alarm',
  'secondsAfter',
];

/** A statement with the function that it belongs to. */
interface OwnedStatement {
  readonly reference: StatementReference;
  readonly service: string;
  readonly lane: string | undefined;
  readonly sid: string;
}

const nameOf = ({ service, lane, sid }: OwnedStatement): string =>
  [service, lane, sid].filter((part) => part !== undefined).join(' ');

/** @returns the exit code: 0 when every run kept every record */
export async function runPermissionDrill(args: readonly string[]): Promise<number> {
  const options = {
    only: { type: 'string' },
    key: { type: 'boolean' },
    records: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  } as const;
  const values = parseOptions([...args], options, USAGE);
  if (values['help'] === true) {
    console.log(USAGE);
    return 0;
  }
  const only = textOption(values, 'only') ?? '';
  const records = wholeNumber(values, 'records', 501, 100_000) ?? 1_000;
  const keyed = values['key'] === true ? await synthesizeKeyed() : undefined;
  const rig = await startRig(keyed === undefined ? {} : { assemblyDirectory: keyed });
  const reports: PermissionReport[] = [];
  try {
    const statements = keyed !== undefined ? keyStatements(rig) : statementsOf(rig);
    for (const statement of statements.filter((each) => nameOf(each).includes(only))) {
      const report = await runWithout(rig, statement, records);
      console.log(
        `${report.statement}: ${report.denials} denials, ${report.state} ${report.secondsAfter} s after the return`,
      );
      reports.push(report);
    }
  } finally {
    await rig.stop();
  }
  const rows = reports.map((report) => COLUMNS.map((column) => String(report[column] ?? '–')));
  console.log(`\n${markdownTable([[...COLUMNS], ...rows])}`);
  if (values['json'] === true) console.log(JSON.stringify(reports));
  return reports.length > 0 && reports.every(isKept) ? 0 : 1;
}

const isKept = ({ lost, blank, doubled, goodFailed, alarm }: PermissionReport): boolean =>
  lost + blank + doubled + goodFailed === 0 && alarm !== false;

function statementsOf({ sluice: { cloud, functions } }: Rig): OwnedStatement[] {
  return [...cloud.usedStatements(), ...cloud.unusedStatements()]
    .filter(({ kind, effect }) => kind === 'identity' && effect === 'Allow')
    .flatMap((reference) => {
      const spec = functions.specs.find(({ name }) => reference.functionNames.includes(name));
      const service = spec?.environment['POWERTOOLS_SERVICE_NAME'];
      if (service === undefined) return [];
      return [{ reference, service, lane: spec?.environment['LANE'], sid: reference.sid ?? '' }];
    })
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Of the key of the account that all of the functions use through the services. */
const keyStatements = ({ sluice: { cloud, functions } }: Rig): OwnedStatement[] =>
  [...cloud.usedStatements(), ...cloud.unusedStatements()]
    .filter(({ kind, sid }) => kind === 'resource' && sid === 'UseThroughServices')
    .map((reference) => ({
      reference: { ...reference, functionNames: functions.specs.map(({ name }) => name) },
      service: 'key',
      lane: undefined,
      sid: 'UseThroughServices',
    }));

async function runWithout(rig: Rig, statement: OwnedStatement, records: number): Promise<PermissionReport> {
  const { cloud } = rig.sluice;
  const startedAtMs = Date.now();
  const figureBefore = alarmFigure(rig, statement);
  const denied = (): number =>
    cloud
      .denials()
      .filter(
        ({ atMs, functionName }) =>
          atMs >= startedAtMs && statement.reference.functionNames.includes(functionName ?? ''),
      ).length;
  await beginCount(rig);
  const { id, size, refused } = await submitFor(rig, statement, records);
  const giveBack = cloud.withhold(statement.reference);
  try {
    // What an environment has read once it keeps for minutes: only new ones ask.
    if (statement.sid === 'ReadCredentials') rig.sluice.killWorkers();
    await untilDenied(rig, statement, id, denied);
    if (denied() > 0) await sleep(HOLD_MS);
  } finally {
    giveBack();
  }
  const returnedAt = performance.now();
  if (statement.service === 'redrive') await redrive(rig, id);
  await untilEnded(rig, id);
  const secondsAfter = Math.round((performance.now() - returnedAt) / 100) / 10;
  const isNoticed = denied() > 0 && !UNNOTICED.includes(statement.sid);
  const told = await account(rig, await rig.client.submission(id));
  return {
    statement: nameOf(statement),
    denials: denied(),
    state: told.state,
    lost: size - told.accounted - told.doubleOutcomes,
    blank: told.blank,
    doubled: told.doubleOutcomes,
    goodFailed: told.goodFailed - refused,
    alarm: isNoticed ? alarmFigure(rig, statement) > figureBefore : undefined,
    secondsAfter,
  };
}

/** A file that the function of the statement works on: few records for the small lane, a compressed file to prepare, failed records to replay. */
async function submitFor(
  rig: Rig,
  { service, lane }: OwnedStatement,
  records: number,
): Promise<{ id: string; size: number; refused: number }> {
  const size = lane === 'small' ? Math.min(records, SMALL_LANE_RECORDS) : records;
  if (service === 'redrive') {
    const { id } = await submitText(rig, fileWithRefused(size));
    // The refused ones are the first.
    await untilFinished(rig, id, size / 2, END_WAIT_MS);
    return { id, size, refused: REFUSED_RECORDS };
  }
  const { id } = await (service === 'prepare' ? submitCompressed(rig, size) : submitGenerated(rig, size));
  return { id, size, refused: 0 };
}

const REFUSED_RECORDS = 10;

/** The first records are refused by the first provider's stand-in, every time. */
function fileWithRefused(records: number): string {
  const rows = Array.from({ length: records }, (_, index) => {
    const domain = index < REFUSED_RECORDS ? `status-422.r${index}.example.com` : `r${index}.example.com`;
    return `r${index},N,n@acme.example,${domain},DE,10115`;
  });
  return `record_id,name,email,domain,country,postal_code\n${rows.join('\n')}\n`;
}

/** What an operator runs: the failed records of the file, a count of what a tenant has, and a look at the dead letters. */
async function redrive({ sluice }: Rig, submissionId: string): Promise<void> {
  const { name: functionName } = sluice.functionOf('redrive');
  const events = [
    { submissionId, force: true, maxRedrives: 3, dryRun: false },
    { tenantId: sluice.tenants[0]?.tenantId },
    { mode: 'dead_letter_queue', dryRun: false },
  ];
  for (const event of events) {
    const payload = JSON.stringify(event);
    await sluice.functions.invoke({
      functionName,
      payload,
      invocationType: 'RequestResponse',
      logType: 'None',
      principal: 'operator',
    });
  }
}

/** Until the first denial; a file that ends without one did not need the statement. */
async function untilDenied(rig: Rig, { service }: OwnedStatement, id: string, denied: () => number): Promise<void> {
  const giveUpAtMs = performance.now() + DENIAL_WAIT_MS;
  while (denied() === 0 && performance.now() < giveUpAtMs) {
    if (API_FUNCTIONS.includes(service)) await useTheApi(rig, id);
    else if (service === 'redrive') await redrive(rig, id);
    else if (await hasEnded(rig, id)) return;
    else await reconcile(rig, id);
    await sleep(EVERY_MS);
  }
}

/** Every kind of request that the API's functions answer. What is refused meanwhile is what the drill is about. */
async function useTheApi(rig: Rig, id: string): Promise<void> {
  const requests = [
    async () => rig.client.submission(id),
    async () => rig.client.results(id),
    async () => preview(rig),
    async () => submitGenerated(rig, 1),
    async () => read(rig, ''),
    async () => read(rig, `/${id}/records?limit=10`),
    async () => read(rig, `/${id}/records/1`),
  ];
  await Promise.allSettled(requests.map(async (request) => request()));
}

async function read({ sluice }: Rig, path: string): Promise<void> {
  const authorization = `Bearer ${sluice.tenants[0]?.apiKey ?? ''}`;
  await fetch(`${sluice.apiUrl}/v1/submissions${path}`, { headers: { authorization } });
}

/** Of a file that a stored profile describes. */
async function preview({ sluice, client }: Rig): Promise<void> {
  const path = join('.local', 'drills', 'records-1.csv');
  await writeGeneratedFile(path, 1);
  const uploadId = await client.upload(path);
  const headers = { authorization: `Bearer ${sluice.tenants[0]?.apiKey ?? ''}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ uploadId, profile: 'drill' });
  await fetch(`${sluice.apiUrl}/v1/profiles/drill`, { method: 'PUT', headers, body: '{}' });
  await fetch(`${sluice.apiUrl}/v1/previews`, { method: 'POST', headers, body });
}

/** As it runs every minute in an account, where it may be denied as well. */
async function reconcile(rig: Rig, id: string): Promise<void> {
  await Promise.allSettled([reconcileNow(rig, id)]);
}

async function hasEnded({ submissions }: Rig, id: string): Promise<boolean> {
  const submission = await submissions.get(id);
  return submission !== undefined && isClosed(submission);
}

async function untilEnded(rig: Rig, id: string): Promise<void> {
  await waitFor(
    async () => {
      if (await hasEnded(rig, id)) return true;
      await reconcile(rig, id);
      return undefined;
    },
    { what: `the end of ${id}`, timeoutMs: END_WAIT_MS, everyMs: EVERY_MS },
  );
}

/** Sum of what the alarm about denied calls, or for the authorizer that about failed invocations, looks at. */
function alarmFigure({ sluice }: Rig, { service, lane, reference }: OwnedStatement): number {
  const { store } = sluice.metrics;
  const isOwn = ({ name, dimensions }: ReturnType<typeof store.list>[number]): boolean =>
    service === 'authorizer'
      ? name === 'Errors' && reference.functionNames.includes(dimensions['FunctionName'] ?? '')
      : /^(?:Worker)?Misconfigurations$/.test(name) &&
        (service === 'key' || dimensions['service'] === service) &&
        (lane === undefined || dimensions['lane'] === lane);
  const points = store
    .list()
    .filter(isOwn)
    .flatMap((metric) => store.points(metric));
  return points.reduce((total, { sum }) => total + sum, 0);
}
