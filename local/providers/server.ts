import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as v from 'valibot';
import { LocalError } from '../errors.ts';
import { parseChange } from './settings.ts';
import { StandIn, type StandInOptions } from './stand-in.ts';

const MAX_CONTROL_BYTES = 65_536;
const credentialsSchema = v.strictObject({ accepted: v.array(v.pipe(v.string(), v.minLength(1))) });

/**
 * The stand-in providers on one HTTP server, each below its own name, and their controls below `/control/<name>`:
 * `PUT` changes the settings, `GET` gives counters and settings, `DELETE` resets the counters,
 * `GET …/calls` gives the calls by key, `GET …/arrivals` the time of every call in monotonic milliseconds, and `PUT …/credentials` `{accepted: […]}` rotates the credential.
 */
export function createProvidersServer(options: readonly StandInOptions[]): Server {
  const standIns = new Map(options.map((provider) => [provider.name, new StandIn(provider)]));
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    const [path = '/', query = ''] = (request.url ?? '/').split('?');
    const [, first = '', ...rest] = path.split('/');
    if (first === 'control') void control(standIns, rest, request, response);
    else void lookUp(standIns.get(first), { path: `/${rest.join('/')}`, query }, request, response);
  });
  return server;
}

async function lookUp(
  standIn: StandIn | undefined,
  asked: { path: string; query: string },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (standIn === undefined) {
    request.resume();
    return send(response, 404, { error: 'No provider has this name.' });
  }
  let body = '';
  // What has no body is answered at once.
  if (request.method === 'POST') body = await readBody(request).catch(() => '');
  else request.resume();
  standIn.handle({ ...asked, body }, request, response);
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
