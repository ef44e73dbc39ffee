import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';

/** What a request says about who signed it, and how. */
export interface SignatureClaim {
  readonly form: 'header' | 'query';
  readonly accessKeyId: string;
  /** The credential scope after the access key: date, region, service, terminator. */
  readonly scope: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** `X-Amz-Date`, as `YYYYMMDD'T'HHMMSS'Z'`. */
  readonly date: string;
  /** Only in a presigned URL. */
  readonly expiresSeconds: number | undefined;
  readonly sessionToken: string | undefined;
}

/** The parts of a request that a signature covers. */
export interface SignedRequest {
  readonly method: string;
  /** Still percent-encoded, without the query. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: IncomingHttpHeaders;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 +Credential=([^,\s]+)[,\s]+SignedHeaders=([^,\s]+)[,\s]+Signature=([0-9a-f]+)$/;

/** Reads the claim from the `Authorization` header or from a presigned URL; undefined for an unsigned request. */
export function readClaim(request: SignedRequest): SignatureClaim | undefined {
  const header = request.headers.authorization;
  if (header !== undefined) {
    const [, credential, signedHeaders, signature] = AUTHORIZATION.exec(header) ?? [];
    const token = request.headers['x-amz-security-token'];
    const date = request.headers['x-amz-date'];
    return claim('header', credential, signedHeaders, signature, first(date), undefined, first(token));
  }
  const query = new Map(request.query);
  if (!query.has('X-Amz-Signature')) return undefined;
  return claim(
    'query',
    query.get('X-Amz-Credential'),
    query.get('X-Amz-SignedHeaders'),
    query.get('X-Amz-Signature'),
    query.get('X-Amz-Date'),
    Number(query.get('X-Amz-Expires') ?? Number.NaN),
    query.get('X-Amz-Security-Token'),
  );
}

function claim(
  form: SignatureClaim['form'],
  credential: string | undefined,
  signedHeaders: string | undefined,
  signature: string | undefined,
  date: string | undefined,
  expiresSeconds: number | undefined,
  sessionToken: string | undefined,
): SignatureClaim | undefined {
  const [accessKeyId, ...scope] = (credential ?? '').split('/');
  const [, region, service] = scope;
  if (accessKeyId === undefined || region === undefined || service === undefined || scope.length !== 4)
    return undefined;
  if (signedHeaders === undefined || signature === undefined) return undefined;
  return {
    form,
    accessKeyId,
    scope: scope.join('/'),
    region,
    service,
    signedHeaders: signedHeaders.split(';'),
    signature,
    date: date ?? '',
    expiresSeconds,
    sessionToken,
  };
}

/** When a presigned URL was signed, ms since the epoch; NaN when its date is malformed. */
export function signedAtMs(found: SignatureClaim): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(found.date) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export function sha256(data: string | Buffer): string {
  return hash('sha256', data);
}

/** Whether the request carries the signature that the secret gives for it (AWS Signature Version 4). */
export async function isSignedWith(
  secretAccessKey: string,
  found: SignatureClaim,
  request: SignedRequest,
  payloadHash: string,
): Promise<boolean> {
  const expected = Buffer.from(await new Verifier(secretAccessKey, found).signatureOf(request, payloadHash), 'hex');
  const given = Buffer.from(found.signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Signs a request again as its claim says that it was signed. */
class Verifier extends SignatureV4 {
  readonly #claim: SignatureClaim;

  constructor(secretAccessKey: string, claim: SignatureClaim) {
    const { accessKeyId, region, service } = claim;
    // S3 signs the path as it is sent; every other service signs it encoded once more.
    const uriEscapePath = service !== 's3';
    super({ credentials: { accessKeyId, secretAccessKey }, region, service, sha256: Sha256, uriEscapePath });
    this.#claim = claim;
  }

  async signatureOf({ method, path, query, headers }: SignedRequest, payloadHash: string): Promise<string> {
    const { date, scope, signedHeaders } = this.#claim;
    const signed = Object.fromEntries(signedHeaders.map((name) => [name, headerValue(headers[name])]));
    const parts = { protocol: 'http:', hostname: '127.0.0.1', method, path, query: bagOf(query), headers: {} };
    const canonical = this.createCanonicalRequest(parts, signed, payloadHash);
    const toSign = await this.createStringToSign(date, scope, canonical, 'AWS4-HMAC-SHA256');
    const signedAt = signedAtMs(this.#claim);
    return Number.isNaN(signedAt) ? '' : this.sign(toSign, { signingDate: new Date(signedAt) });
  }
}

/** SHA-256 of Node.js, as the signer takes it: a digest, or with a secret an HMAC. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash | typeof createHmac>;

  constructor(secret?: HashSecret) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new TypeError('A hash is used once.');
  }
}

type HashSecret = string | ArrayBuffer | ArrayBufferView;

const bytesOf = (data: HashSecret): string | Uint8Array => {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
};

function bagOf(query: SignedRequest['query']): Record<string, string[]> {
  const bag: Record<string, string[]> = {};
  for (const [name, value] of query) (bag[name] ??= []).push(value);
  return bag;
}

function headerValue(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(',').trim().replaceAll(/\s+/g, ' ');
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
