/**
 * Runs Sluice on this machine until Ctrl-C: `npm run local`. With `--json` it prints one line of JSON when everything is
 * ready, and nothing else to standard output.
 */
import { alarmLine } from './cloud/index.ts';
import { runCommand } from './command.ts';
import { parseOptions, textOption, wholeNumber } from './options.ts';
import { runUntilStopped } from './shutdown.ts';
import { watchStarts } from './start-failures.ts';
import { startLocal, type LocalSluice } from './start.ts';

const USAGE = `Usage: npm run local -- [options]
  --json          one line of JSON when ready: apiUrl, tenants, awsEndpoint, providersUrl, resources
  --stage NAME    stage under config/stages (default: dev)
  --port N        port of the API (default: any free port)
  --aws-port N    port of the AWS endpoint (default: any free port)
  --logs DIR      also write the logs of all functions to files in this directory`;

const DENIAL_INTERVAL_MS = 1000;

async function main(args: readonly string[]): Promise<number> {
  const values = parseOptions(
    args,
    {
      json: { type: 'boolean' },
      help: { type: 'boolean' },
      stage: { type: 'string' },
      port: { type: 'string' },
      'aws-port': { type: 'string' },
      logs: { type: 'string' },
    },
    USAGE,
  );
  if (values['help'] === true) {
    console.log(USAGE);
    return 0;
  }
  const directory = textOption(values, 'logs');
  const startup = startLocal({
    stage: textOption(values, 'stage'),
    ports: { api: wholeNumber(values, 'port', 0, 65_535), aws: wholeNumber(values, 'aws-port', 0, 65_535) },
    logs: directory === undefined ? undefined : { directory },
    onProgress: (message) => console.error(`${message} …`),
  });
  // Whoever stops it while it starts gets everything stopped as well.
  const stopped = runUntilStopped(async () => (await startup).stop());
  const sluice = await startup;
  const { apiUrl, tenants, awsEndpoint, providersUrl, resources } = sluice;
  console.log(
    values['json'] === true
      ? JSON.stringify({ apiUrl, tenants, awsEndpoint, providersUrl, resources })
      : describe(sluice),
  );
  reportDenials(sluice);
  reportAlarms(sluice);
  watchStarts(sluice.functions, (message) => console.error(message));
  return stopped;
}

function describe(sluice: LocalSluice): string {
  const { apiUrl, tenants, awsEndpoint, providersUrl, cloud, resources } = sluice;
  const [first] = tenants;
  const { accessKeyId, secretAccessKey } = cloud.operatorCredentials;
  return `
Sluice runs on this machine until Ctrl-C. Nothing is kept.

  API            ${apiUrl}
  AWS endpoint   ${awsEndpoint}
  Providers      ${providersUrl}

API keys:
${tenants.map(({ tenantId, apiKey }) => `  ${tenantId.padEnd(12)} ${apiKey}`).join('\n')}

Submit a file, then ask what became of it:

  export API=${apiUrl} KEY=${first?.apiKey ?? ''}
  curl -s -X POST "$API/v1/submissions" -H "authorization: Bearer $KEY" -H 'content-type: text/csv' --data-binary @samples/customers.csv
  curl -s "$API/v1/submissions" -H "authorization: Bearer $KEY"

Look behind it with the AWS CLI:

  export AWS_ENDPOINT_URL=${awsEndpoint} AWS_REGION=${cloud.region} AWS_DEFAULT_REGION=${cloud.region} AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secretAccessKey}
  aws sqs list-queues

Then ask as an operator what became of a submission, and replay what failed (a dry run, unless it ends with --execute):

  export SUBMISSIONS_TABLE=${nameOf(resources.tables, 'Submissions')} RECORDS_TABLE=${nameOf(resources.tables, 'Records')} TENANTS_TABLE=${nameOf(resources.tables, 'Tenants')} REDRIVE_FUNCTION=${sluice.functionOf('redrive').name}
  npm run where -- SUBMISSION_ID
  npm run redrive -- --submission SUBMISSION_ID

Make a provider fail for half a minute, and see what it was asked:

  curl -s -X PUT ${providersUrl}/control/company -d '{"mode":"outage","forMs":30000}'
  curl -s ${providersUrl}/control/company
`;
}

/** Name of the resource whose path ends with this. */
const nameOf = (names: Readonly<Record<string, string>>, end: string): string =>
  Object.entries(names).find(([path]) => path.endsWith(`/${end}`))?.[1] ?? '';

/** A denied call is a missing permission: it would be denied in the account as well, so it is said at once. */
function reportDenials({ cloud }: LocalSluice): void {
  let reported = 0;
  setInterval(() => {
    const denials = cloud.denials();
    for (const { message } of denials.slice(reported)) console.error(`Access denied: ${message}`);
    reported = denials.length;
  }, DENIAL_INTERVAL_MS);
}

/** One line per transition. What leaves its first state for OK has only been looked at for the first time. */
function reportAlarms({ alarms }: LocalSluice): void {
  alarms.observe((transition) => {
    if (transition.from !== 'INSUFFICIENT_DATA' || transition.to !== 'OK') console.error(alarmLine(transition));
  });
}

await runCommand(main);
