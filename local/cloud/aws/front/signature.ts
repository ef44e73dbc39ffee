import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

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

/** Whether the request carries the signature that the secret gives for it (AWS Signature Version 4). */
export function isSignedWith(
  secret: string,
  found: SignatureClaim,
  request: SignedRequest,
  payloadHash: string,
): boolean {
  const toSign = [
    'AWS4-HMAC-SHA256',
    found.date,
    found.scope,
    sha256(canonicalRequest(found, request, payloadHash)),
  ].join('\n');
  const expected = hmac(signingKey(secret, found.scope), toSign);
  const given = Buffer.from(found.signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** When a presigned URL was signed, ms since the epoch; NaN when its date is malformed. */
export function signedAtMs(found: SignatureClaim): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(found.date) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export function sha256(data: string | Buffer): string {
  return hash('sha256', data);
}

function canonicalRequest(found: SignatureClaim, request: SignedRequest, payloadHash: string): string {
  // S3 signs the path as it is sent; every other service signs it encoded once more.
  const path = found.service === 's3' ? canonicalPath(request.path) : encodePath(canonicalPath(request.path));
  const query = request.query
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const headers = found.signedHeaders.map((name) => `${name}:${headerValue(request.headers[name])}\n`).join('');
  return [request.method, path, query, headers, found.signedHeaders.join(';'), payloadHash].join('\n');
}

function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((segment) => encode(decodeURIComponent(segment)))
    .join('/');
}

function encodePath(path: string): string {
  return path.split('/').map(encode).join('/');
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function headerValue(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(',').trim().replaceAll(/\s+/g, ' ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const signingKeys = new Map<string, Buffer>();

function signingKey(secret: string, scope: string): Buffer {
  const cacheKey = `${secret}/${scope}`;
  const known = signingKeys.get(cacheKey);
  if (known !== undefined) return known;
  const key = scope.split('/').reduce<Buffer | string>((parent, part) => hmac(parent, part), `AWS4${secret}`);
  if (signingKeys.size > 1_000) signingKeys.clear();
  signingKeys.set(cacheKey, Buffer.from(key));
  return Buffer.from(key);
}

function hmac(key: Buffer | string, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
