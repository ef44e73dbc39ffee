import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { FUNCTION_URLS } from '../../templates/types/model.ts';
import { Call } from './call.ts';
import type { CallLog } from './call-log.ts';
import type { Credentials } from './credentials.ts';
import { AwsError, DEFAULT_DIALECT, dialects, errorReply, type Reply } from './errors.ts';
import type { Service } from './service.ts';
import { isSignedWith, readClaim, sha256, signedAtMs } from './signature.ts';

/** What the front needs once the templates are evaluated. */
export interface FrontParts {
  readonly services: readonly Service[];
  readonly credentials: Credentials;
  readonly log: CallLog;
}

/** Idle connections are kept longer than any client keeps them, so that no client sends into a closing one. */
const KEEP_ALIVE_MS = 10 * 60 * 1000;

/**
 * The AWS endpoint: one HTTP server for all services. It finds out which service is meant and who calls, checks the
 * signature, lets the service answer, and puts errors into the service's own form.
 */
export class Front {
  readonly #server: Server;
  #parts: FrontParts | undefined;
  #services: ReadonlyMap<string, Service> = new Map();

  constructor() {
    this.#server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (request, response) => {
      void this.#serve(request, response);
    });
  }

  /** @returns the port on 127.0.0.1 */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Begins to answer; until then every call is answered 503. */
  open(parts: FrontParts): void {
    this.#parts = parts;
    this.#services = new Map(parts.services.map((service) => [service.name, service]));
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let call: Call | undefined;
    try {
      call = new Call(request, response);
      const reply = await this.#answer(call);
      if (call.losesReply) response.destroy();
      else if (reply !== undefined) call.responseBytes = write(response, reply, call.method);
    } catch (error) {
      const isGone = response.destroyed || response.socket?.destroyed === true;
      const refusal = asAwsError(error, isGone);
      if (call !== undefined) call.errorCode = refusal.code;
      if (response.headersSent || isGone) response.destroy();
      else write(response, errorReply(refusal, dialects[call?.service ?? ''] ?? DEFAULT_DIALECT), request.method);
    }
    if (call !== undefined) this.#record(call);
  }

  async #answer(call: Call): Promise<Reply | undefined> {
    const { credentials } = this.#open();
    call.claim = readClaim(call);
    call.service = serviceOf(call);
    const service = this.#services.get(call.service);
    if (service === undefined) {
      throw new AwsError(400, 'UnknownOperationException', `The local cloud has no service ${call.service}.`);
    }
    if (call.method === 'OPTIONS' && service.preflight !== undefined) return service.preflight(call);
    if (service.buffersBody) await call.readBody();
    await authenticate(call, credentials, service.buffersBody ? () => sha256(call.body) : () => streamedHash(call));
    return service.handle(call);
  }

  #open(): FrontParts {
    if (this.#parts !== undefined) return this.#parts;
    throw new AwsError(503, 'ServiceUnavailable', 'The local cloud is starting.');
  }

  #record(call: Call): void {
    const lost = call.losesReply || call.response.destroyed;
    this.#parts?.log.record({
      atMs: call.startedAtMs,
      durationMs: call.durationMs,
      principal: call.principal?.arn ?? 'anonymous',
      functionName: call.principal?.functionName,
      service: call.service,
      operation: call.operation,
      target: call.target,
      status: lost ? 0 : call.response.statusCode,
      errorCode: call.errorCode,
      requestBytes: call.body.length > 0 ? call.body.length : Number(call.header('content-length') ?? 0),
      responseBytes: call.responseBytes,
      input: call.input,
      capacityUnits: call.capacityUnits,
    });
  }
}

/** The service a request is for: by its signature, its path or its target header, or S3, whose requests may be unsigned. */
function serviceOf(call: Call): string {
  if (call.claim !== undefined) return call.claim.service;
  if (call.path.startsWith(FUNCTION_URLS)) return 'lambda';
  const target = call.header('x-amz-target') ?? '';
  if (target.startsWith('AmazonSQS.')) return 'sqs';
  if (target.startsWith('DynamoDB_')) return 'dynamodb';
  if (target.startsWith('secretsmanager.')) return 'secretsmanager';
  return 's3';
}

async function authenticate(call: Call, credentials: Credentials, payloadHash: () => string): Promise<void> {
  const { claim } = call;
  if (claim === undefined) return;
  const owner = credentials.ownerOf(claim.accessKeyId);
  if (owner === undefined) {
    throw new AwsError(403, 'InvalidAccessKeyId', `The access key ${claim.accessKeyId} was not issued here.`);
  }
  if (claim.form === 'query') checkPresigned(call);
  if (owner.issued !== undefined) {
    const { secretAccessKey, sessionToken } = owner.issued;
    if (claim.sessionToken !== sessionToken) {
      throw new AwsError(403, 'InvalidToken', 'The security token included in the request is invalid.');
    }
    const hash = claim.form === 'query' ? 'UNSIGNED-PAYLOAD' : payloadHash();
    if (!(await isSignedWith(secretAccessKey, claim, call, hash))) throw signatureMismatch();
  }
  call.principal = owner.principal;
}

function streamedHash(call: Call): string {
  return call.header('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD';
}

/** What holds for a presigned URL besides its signature: it has not expired, and every signed header is there. */
function checkPresigned(call: Call): void {
  const { claim } = call;
  if (claim === undefined) return;
  const expiresAtMs = signedAtMs(claim) + (claim.expiresSeconds ?? Number.NaN) * 1000;
  if (Number.isNaN(expiresAtMs)) {
    throw new AwsError(400, 'AuthorizationQueryParametersError', 'X-Amz-Date or X-Amz-Expires is malformed.');
  }
  const now = new Date();
  if (now.getTime() > expiresAtMs) {
    throw new AwsError(403, 'AccessDenied', 'Request has expired', {
      Expires: new Date(expiresAtMs).toISOString(),
      ServerTime: now.toISOString(),
    });
  }
  if (claim.signedHeaders.some((name) => call.header(name) === undefined)) throw signatureMismatch();
  const unsigned = Object.keys(call.headers).filter(
    (name) => name.startsWith('x-amz-') && name !== 'x-amz-content-sha256' && !claim.signedHeaders.includes(name),
  );
  if (unsigned.length > 0) {
    throw new AwsError(403, 'AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    });
  }
}

function signatureMismatch(): AwsError {
  return new AwsError(
    403,
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  );
}

/** A caller that hangs up in the middle of a body is no failure of the endpoint. */
function asAwsError(error: unknown, callerIsGone: boolean): AwsError {
  if (error instanceof AwsError) return error;
  if (!callerIsGone) console.error('The AWS endpoint failed:', error);
  return new AwsError(500, 'InternalFailure', error instanceof Error ? error.message : String(error));
}

/** @returns the number of bytes in the body */
function write(response: ServerResponse, reply: Reply, method: string | undefined): number {
  const bytes = Buffer.byteLength(reply.body);
  response.writeHead(reply.status, { ...reply.headers, 'content-length': bytes });
  response.end(method === 'HEAD' ? undefined : reply.body);
  return bytes;
}
