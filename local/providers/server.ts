import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as v from 'valibot';
import { LocalError } from '../errors.ts';
import { STAND_INS } from '../../lambdas/stand-ins/answers.ts';
import { parseChange } from './settings.ts';
import { StandIn, type StandInOptions } from './stand-in.ts';

const MAX_CONTROL_BYTES = 65_536;
const credentialsSchema = v.strictObject({ accepted: v.array(v.pipe(v.string(), v.minLength(1))) });

/**
 * The stand-in providers on one HTTP server, each below its own name, and their controls below `/control/<name>`:
 * `PUT` changes the settings, `GET` gives counters and settings, `DELETE` resets the counters,
 * `GET …/calls` gives the calls by key, `GET …/arrivals` the time of every call in monotonic milliseconds, and `PUT …/credentials` `{accepted: […]}` rotates the credential.
 *
 * @throws LocalError when a provider has no stand-in
 */
export function createProvidersServer(options: readonly StandInOptions[]): Server {
  const standIns = new Map(options.map((provider) => [provider.name, createStandIn(provider)]));
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const [, first = '', ...rest] = path.split('/');
    if (first === 'control') void control(standIns, rest, request, response);
    else lookUp(standIns.get(first), rest, request, response);
  });
  return server;
}

function createStandIn(options: StandInOptions): StandIn {
  const definition = STAND_INS.find(({ name }) => name === options.name);
  if (definition === undefined) {
    const known = STAND_INS.map(({ name }) => name).join(', ');
    throw new LocalError(
      `There is no stand-in for provider "${options.name}" (there are: ${known}); add it to lambdas/stand-ins/answers.ts.`,
    );
  }
  return new StandIn(definition, options);
}

function lookUp(
  standIn: StandIn | undefined,
  rest: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.resume();
  if (standIn === undefined) send(response, 404, { error: 'No provider has this name.' });
  else standIn.handle(`/${rest.join('/')}`, request, response);
}

async function control(
  standIns: ReadonlyMap<string, StandIn>,
  [name = '', part, ...more]: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const standIn = standIns.get(name);
  if (standIn === undefined || more.length > 0) {
    return send(response, 404, { error: `Unknown provider "${name}": there are ${[...standIns.keys()].join(', ')}.` });
  }
  try {
    const body = await readBody(request);
    const answer = applyControl(standIn, `${request.method} ${part ?? ''}`.trim(), body);
    if (answer === undefined) send(response, 405, { error: `${request.method} is not possible here.` });
    else send(response, 200, answer);
  } catch (error) {
    // Anything else comes from a client that went away in the middle of its body.
    if (error instanceof LocalError) send(response, 400, { error: error.message });
    else response.destroy();
  }
}

function applyControl(standIn: StandIn, operation: string, body: string): object | undefined {
  switch (operation) {
    case 'PUT':
      standIn.change(parseChange(body));
      return report(standIn);
    case 'GET':
      return report(standIn);
    case 'DELETE':
      standIn.counters.reset();
      return report(standIn);
    case 'GET calls':
      return standIn.counters.byKey();
    case 'GET arrivals':
      return standIn.counters.arrivals();
    case 'PUT credentials':
      standIn.accept(parseCredentials(body));
      return report(standIn);
    default:
      return undefined;
  }
}

const report = (standIn: StandIn): object => ({ ...standIn.counters.totals(), settings: standIn.settings });

function parseCredentials(body: string): string[] {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), credentialsSchema), body);
  if (parsed.success) return parsed.output.accepted;
  throw new LocalError('The body must be {"accepted": ["…"]}: every credential that is accepted from now on.');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const data = Buffer.from(chunk);
    bytes += data.length;
    if (bytes > MAX_CONTROL_BYTES) throw new LocalError(`The body is above ${MAX_CONTROL_BYTES} bytes.`);
    chunks.push(data);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}
