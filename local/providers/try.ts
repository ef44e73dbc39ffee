/**
 * Calls one provider once, as a worker would: `npm run providers -- try company --field domain=example.com`.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { EXAMPLES } from '../../config/examples/index.ts';
import { PROVIDERS } from '../../config/providers.ts';
import { createHttpTransport } from '../../lambdas/adapters/http/http-transport.ts';
import { authorize } from '../../lambdas/domain/providers/authorize.ts';
import { classify } from '../../lambdas/domain/providers/classify.ts';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import type { HttpTransport } from '../../lambdas/domain/providers/ports.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import { createTokenSource } from '../../lambdas/domain/providers/tokens.ts';
import { systemClock as clock } from '../../lambdas/runtime/clock.ts';
import { runCommand } from '../command.ts';
import { LocalError } from '../errors.ts';
import { startProviders } from './start.ts';

const USAGE = `Usage: npm run providers -- list
       npm run providers -- try NAME --field FIELD=VALUE [--field …] [--real] [--url URL]

  NAME     of config/providers.ts, or of config/examples
  --field  a lookup field of the record; the canary's where none is given
  --real   call the provider itself instead of its stand-in, with the credential in PROVIDER_CREDENTIAL
  --url    in place of its baseUrl, for --real`;

const STAND_IN_CREDENTIAL = 'stand-in:credential';
/** Headers by which providers tell their limits. */
const LIMIT_HEADERS = /^(?:retry-after|(?:x-)?rate-?limit.*)$/;

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const [verb, name] = positionals;
  if (verb === 'list') {
    for (const { name: known, method = 'GET', baseUrl, path } of [...PROVIDERS, ...EXAMPLES]) {
      console.log(`${known}  ${method} ${baseUrl}${path}`);
    }
    return 0;
  }
  if (verb !== 'try' || name === undefined) throw new LocalError(USAGE);
  const config = [...PROVIDERS, ...EXAMPLES].find((provider) => provider.name === name);
  if (config === undefined)
    throw new LocalError(`There is no provider "${name}": npm run providers -- list names them.`);
  const fields = fieldsOf(values.field, config);
  if (values.real) {
    const credential = process.env['PROVIDER_CREDENTIAL'] ?? '';
    return ask({ ...config, baseUrl: values.url ?? config.baseUrl }, fields, credential);
  }
  const standIns = await startProviders({ providers: [config], credentials: { [name]: STAND_IN_CREDENTIAL } });
  try {
    return await ask({ ...config, baseUrl: standIns.baseUrls[name] ?? '' }, fields, STAND_IN_CREDENTIAL);
  } finally {
    await standIns.stop();
  }
}

function parse(args: readonly string[]) {
  try {
    const options = {
      field: { type: 'string', multiple: true },
      real: { type: 'boolean' },
      url: { type: 'string' },
    } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new LocalError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

function fieldsOf(
  given: readonly string[] | undefined,
  { lookup, canary, name }: ProviderConfig,
): Record<string, string> {
  if (given === undefined) return { ...canary };
  const fields = given.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
    throw new LocalError(`--field is "${pair}": give FIELD=VALUE.`);
  });
  const unknown = fields.find(([field]) => !lookup.includes(field));
  if (unknown === undefined) return Object.fromEntries(fields);
  throw new LocalError(`Provider "${name}" does not look up by "${unknown[0]}": it does by ${lookup.join(', ')}.`);
}

/** Prints request, answer, class and what is kept of it. The credential is shown nowhere. */
async function ask(config: ProviderConfig, fields: Record<string, string>, credential: string): Promise<number> {
  const [provider] = prepareProviders([config]);
  const transport = createHttpTransport();
  if (provider === undefined) throw new LocalError('There is no such provider.');
  const request = provider.requestFor(fields);
  if (request.kind === 'not_applicable') {
    console.log(`No call: the record lacks ${config.lookup.filter((field) => !fields[field]).join(', ')}.`);
    return 0;
  }
  if (request.kind === 'unusable') throw new LocalError(`No request can be made from the value of ${request.field}.`);
  try {
    const token = await tokenOf(config, transport, credential);
    const { url, headers, body } = authorize(request, config.auth, token);
    const { method = 'GET', timeoutMs, maxBodyBytes } = config;
    console.log(`${method} ${request.url}`);
    for (const [header, value] of Object.entries(request.headers ?? {})) console.log(`${header}: ${value}`);
    if (body !== undefined) console.log(body);
    const startedAt = performance.now();
    const result = await transport.request({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      timeoutMs,
      maxBodyBytes,
    });
    const milliseconds = Math.round(performance.now() - startedAt);
    if (result.kind === 'failure') console.log(`\nno answer after ${milliseconds} ms: ${result.cause}`);
    else {
      console.log(`\n${result.status} after ${milliseconds} ms`);
      for (const [header, value] of Object.entries(result.headers)) {
        if (LIMIT_HEADERS.test(header)) console.log(`${header}: ${value}`);
      }
      console.log(Buffer.from(result.body).toString('utf8'));
    }
    const outcome = classify(provider.rules, result, clock.now());
    const kind = outcome.kind === 'answer' ? outcome.answer.kind : outcome.kind;
    console.log(`\nclass: ${kind}`);
    if ('detail' in outcome) console.log(outcome.detail);
    if (outcome.kind !== 'answer') return 1;
    const { answer } = outcome;
    if ('data' in answer) console.log(`kept: ${JSON.stringify(answer.data, null, 2)}`);
    return 0;
  } finally {
    transport.close();
  }
}

/** An access token where the provider wants one; else the credential. */
async function tokenOf(config: ProviderConfig, transport: HttpTransport, credential: string): Promise<string> {
  const secrets = { get: async () => credential, refresh: async () => false };
  const store = { read: async () => undefined, claim: async () => true, write: async () => undefined };
  return createTokenSource({ secrets, store, transport, clock, owner: 'try', randomBytes }, [config]).get(config.name);
}

await runCommand(main);
