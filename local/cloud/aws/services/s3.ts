import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DeployedResource } from '../../contract.ts';
import type { Call } from '../front/call.ts';
import { AwsError, type Reply } from '../front/errors.ts';
import type { Gate } from '../front/gate.ts';
import type { Service } from '../front/service.ts';
import { forwarded, type Upstream } from '../front/upstream.ts';
import { checkSignedChecksum, ConditionalWrites, signedChecksums } from './s3-conditions.ts';
import { corsHeaders, type CorsRule, corsRulesOf } from './s3-cors.ts';
import { locationOf, objectArn, operationOf, type S3Location } from './s3-operations.ts';

/** Query parameters that replace a header of the answer. */
const RESPONSE_OVERRIDES: Readonly<Record<string, string>> = {
  'response-cache-control': 'cache-control',
  'response-content-disposition': 'content-disposition',
  'response-content-encoding': 'content-encoding',
  'response-content-language': 'content-language',
  'response-content-type': 'content-type',
  'response-expires': 'expires',
};

/** Types that the emulator stores with the object. */
const STORED_TYPE = /^(?:text\/(?:csv|plain)|application\/(?:x-ndjson|json|octet-stream)|binary\/octet-stream)(?:;|$)/;

interface Bucket {
  readonly cors: readonly CorsRule[];
  readonly encryption: string;
}

/**
 * S3: the emulator's objects, with bodies streamed in both directions, and in front of them what the emulator leaves out:
 * CORS, conditional writes, checksums in presigned URLs, and 403 for a missing object that the caller may not list.
 */
export class S3Service implements Service {
  readonly name = 's3';
  readonly buffersBody = false;
  readonly #gate: Gate;
  readonly #emulator: Upstream;
  readonly #region: string;
  readonly #buckets: ReadonlyMap<string, Bucket>;
  readonly #conditionalWrites = new ConditionalWrites();

  constructor(gate: Gate, emulator: Upstream, buckets: readonly DeployedResource[], region: string) {
    this.#gate = gate;
    this.#emulator = emulator;
    this.#region = region;
    this.#buckets = new Map(
      buckets.map((bucket) => [bucket.physicalId, { cors: corsRulesOf(bucket), encryption: encryptionOf(bucket) }]),
    );
  }

  preflight(call: Call): Reply {
    call.operation = 'Preflight';
    const origin = call.header('origin') ?? '';
    const method = call.header('access-control-request-method') ?? '';
    const asked = (call.header('access-control-request-headers') ?? '').split(',');
    const names = asked.map((name) => name.trim().toLowerCase()).filter((name) => name !== '');
    const rules = this.#buckets.get(locationOf(call.path).bucket)?.cors ?? [];
    const headers = corsHeaders(rules, origin, method, names);
    if (headers !== undefined) return { status: 200, headers, body: '' };
    throw new AwsError(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
  }

  async handle(call: Call): Promise<Reply | undefined> {
    const location = locationOf(call.path);
    const bucket = this.#buckets.get(location.bucket);
    call.target = location.bucket === '' ? undefined : location.bucket;
    const origin = call.header('origin');
    const cors = origin === undefined ? undefined : corsHeaders(bucket?.cors ?? [], origin, call.method);
    for (const [name, value] of Object.entries(cors ?? {})) call.response.setHeader(name, value);
    if (call.method === 'POST' && call.parameter('delete') !== undefined) await call.readBody();
    const { operation, checks } = operationOf(call, location);
    call.operation = operation;
    if (location.bucket !== '' && bucket === undefined) {
      throw new AwsError(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: location.bucket });
    }
    if (operation === 'PutObject') refuseUnusualUpload(call);
    await this.#gate.pass(call, checks);
    if (operation === 'GetBucketLocation') return bucketLocation(this.#region);
    if (bucket !== undefined) call.response.setHeader('x-amz-server-side-encryption', bucket.encryption);
    const isWrite = ['PutObject', 'CopyObject', 'CompleteMultipartUpload'].includes(operation);
    const answer = isWrite
      ? await this.#conditionalWrites.run(
          call,
          location,
          (wanted) => this.#readETag(wanted),
          () => this.#send(call),
        )
      : await this.#send(call);
    return this.#respond(call, location, answer);
  }

  async #send(call: Call): Promise<IncomingMessage> {
    const headers = forwarded(call.headers);
    // The emulator cannot store an empty body without a type; this is the type that S3 gives by itself.
    if (call.method === 'PUT') headers['content-type'] ??= 'binary/octet-stream';
    // It would parse a body of such a type, or refuse it; S3 stores whatever comes.
    if (call.method === 'PUT' && !STORED_TYPE.test(String(headers['content-type'])))
      headers['content-type'] = 'binary/octet-stream';
    if (signedChecksums(call).length > 0 && call.method === 'PUT') {
      await call.readBody();
      checkSignedChecksum(call, call.body);
    }
    const length = call.body.length > 0 ? String(call.body.length) : call.header('content-length');
    if (length !== undefined) headers['content-length'] = length;
    const body = call.body.length > 0 ? Readable.from([call.body]) : call.request;
    return this.#emulator.stream(call.method, call.request.url ?? '/', headers, body);
  }

  async #respond(call: Call, location: S3Location, answer: IncomingMessage): Promise<undefined> {
    const status = answer.statusCode ?? 500;
    const isRead = call.operation === 'GetObject' || call.operation === 'HeadObject';
    if (status === 404 && isRead) await this.#hideMissing(call, location, answer);
    if (call.losesReply) {
      answer.resume();
      call.response.destroy();
      return undefined;
    }
    if (status >= 400) call.errorCode = String(status);
    const headers = forwarded(answer.headers);
    if (isRead && status < 300) Object.assign(headers, { 'accept-ranges': 'bytes' }, overrides(call));
    const length = answer.headers['content-length'];
    call.responseBytes = call.method === 'HEAD' ? 0 : Number(length ?? 0);
    call.response.writeHead(status, { ...headers, ...(length === undefined ? {} : { 'content-length': length }) });
    await pipeline(answer, call.response);
    return undefined;
  }

  /** Whoever may not list a bucket does not learn which of its objects exist. */
  async #hideMissing(call: Call, { bucket, key }: S3Location, answer: IncomingMessage): Promise<void> {
    // As S3 does, with the key in the place of the prefix that a listing would have.
    const resource = objectArn(bucket, '');
    const mayList = await this.#gate.wouldAllow(call, {
      action: 's3:ListBucket',
      resource,
      context: { 's3:prefix': key },
    });
    if (mayList) return;
    answer.resume();
    const who = call.principal?.arn ?? 'anonymous';
    throw new AwsError(
      403,
      'AccessDenied',
      `User: ${who} is not authorized to perform: s3:ListBucket on resource: "${objectArn(bucket, '')}" because no identity-based policy allows the s3:ListBucket action`,
      { Key: key },
    );
  }

  async #readETag({ bucket, key }: S3Location): Promise<string | undefined> {
    const path = `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
    const answer = await this.#emulator.send('HEAD', path, {}, '');
    return answer.status === 200 ? String(answer.headers.etag) : undefined;
  }
}

/**
 * What S3 refuses of uploads by its own rules, in its own words,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html. Chunks that the SDK signs announce the length of the object.
 */
function refuseUnusualUpload(call: Call): void {
  if (call.parameter('X-Amz-Signature') !== undefined && call.header('authorization') !== undefined) {
    throw new AwsError(
      400,
      'InvalidArgument',
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified',
      { ArgumentName: 'Authorization' },
    );
  }
  const isFramed = call.header('x-amz-decoded-content-length') !== undefined;
  if (call.header('transfer-encoding') === undefined || isFramed) return;
  throw new AwsError(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented', {
    Header: 'Transfer-Encoding',
  });
}

function overrides(call: Call): Record<string, string> {
  return Object.fromEntries(
    call.query.flatMap(([name, value]) => {
      const header = RESPONSE_OVERRIDES[name];
      return header === undefined ? [] : [[header, value]];
    }),
  );
}

function bucketLocation(region: string): Reply {
  const constraint = region === 'us-east-1' ? '' : region;
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${constraint}</LocationConstraint>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

function encryptionOf({ properties }: DeployedResource): string {
  return JSON.stringify(properties['BucketEncryption'] ?? '').includes('aws:kms') ? 'aws:kms' : 'AES256';
}
