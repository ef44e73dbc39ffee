import type { ConditionContext } from '../authorization/context.ts';
import type { Call } from '../front/call.ts';
import { AwsError } from '../front/errors.ts';
import type { Check } from '../front/gate.ts';

/** Where a request points: path-style, `/bucket/key`. */
export interface S3Location {
  readonly bucket: string;
  /** Decoded; empty for the bucket itself. */
  readonly key: string;
}

/** Query parameters that make a request about something else than the object or the bucket itself. */
const SUBRESOURCES = new Set(
  `accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory legal-hold lifecycle location
   logging metrics notification object-lock ownershipControls partNumber policy policyStatus publicAccessBlock renameObject
   replication requestPayment restore retention select session tagging torrent uploadId uploads versionId versioning versions
   website`.split(/\s+/),
);

interface Entry {
  readonly operation: string;
  readonly action: string;
}

/** Operations by level, method and sorted subresources. */
const OPERATIONS: Readonly<Record<string, Entry>> = {
  'service GET': { operation: 'ListBuckets', action: 's3:ListAllMyBuckets' },
  'bucket GET': { operation: 'ListObjects', action: 's3:ListBucket' },
  'bucket HEAD': { operation: 'HeadBucket', action: 's3:ListBucket' },
  'bucket GET location': { operation: 'GetBucketLocation', action: 's3:GetBucketLocation' },
  'bucket POST delete': { operation: 'DeleteObjects', action: 's3:DeleteObject' },
  'object GET': { operation: 'GetObject', action: 's3:GetObject' },
  'object GET partNumber': { operation: 'GetObject', action: 's3:GetObject' },
  'object GET attributes': { operation: 'GetObjectAttributes', action: 's3:GetObjectAttributes' },
  'object HEAD': { operation: 'HeadObject', action: 's3:GetObject' },
  'object PUT': { operation: 'PutObject', action: 's3:PutObject' },
  'object DELETE': { operation: 'DeleteObject', action: 's3:DeleteObject' },
  'object POST uploads': { operation: 'CreateMultipartUpload', action: 's3:PutObject' },
  'object PUT partNumber uploadId': { operation: 'UploadPart', action: 's3:PutObject' },
  'object POST uploadId': { operation: 'CompleteMultipartUpload', action: 's3:PutObject' },
  'object DELETE uploadId': { operation: 'AbortMultipartUpload', action: 's3:AbortMultipartUpload' },
};

/** @throws AwsError when the path is not percent-encoded correctly */
export function locationOf(path: string): S3Location {
  const slash = path.indexOf('/', 1);
  try {
    if (slash < 0) return { bucket: decodeURIComponent(path.slice(1)), key: '' };
    return { bucket: path.slice(1, slash), key: decodeURIComponent(path.slice(slash + 1)) };
  } catch {
    throw new AwsError(400, 'InvalidURI', "Couldn't parse the specified URI.");
  }
}

/**
 * Finds out what a request does and which permissions that takes.
 *
 * @throws AwsError 501 for what the emulator does not do: it would ignore the parameters and do something else
 */
export function operationOf(call: Call, { bucket, key }: S3Location): { operation: string; checks: Check[] } {
  const level = bucket === '' ? 'service' : key === '' ? 'bucket' : 'object';
  const subresources = call.query.map(([name]) => name).filter((name) => SUBRESOURCES.has(name));
  const found = OPERATIONS[[level, call.method, ...subresources.sort()].join(' ')];
  if (found === undefined) {
    const what = `${call.method} of ${level === 'service' ? 'the service' : `a ${level}`} with ${subresources.join(', ') || 'nothing more'}`;
    throw new AwsError(501, 'NotImplemented', `The local cloud does not support ${what}.`);
  }
  const context = conditionsOf(call, found.operation);
  const resource = bucket === '' ? '*' : objectArn(bucket, key);
  const source = copySourceOf(call);
  if (found.operation === 'DeleteObjects') {
    const checks = keysToDelete(call).map((each) => check(found.action, objectArn(bucket, each), context));
    return { operation: found.operation, checks };
  }
  const checks = [check(found.action, resource, context)];
  if (found.operation === 'GetObjectAttributes') checks.push(check('s3:GetObject', resource, context));
  if (source === undefined) return { operation: found.operation, checks };
  checks.push(check('s3:GetObject', objectArn(source.bucket, source.key), context));
  return { operation: found.operation === 'UploadPart' ? 'UploadPartCopy' : 'CopyObject', checks };
}

/** The object that a request copies from, if it copies. */
export function copySourceOf(call: Call): S3Location | undefined {
  const source = call.header('x-amz-copy-source');
  return source === undefined ? undefined : locationOf(source.startsWith('/') ? source : `/${source}`);
}

export function objectArn(bucket: string, key: string): string {
  return key === '' ? `arn:aws:s3:::${bucket}` : `arn:aws:s3:::${bucket}/${key}`;
}

function check(action: string, resource: string, context: ConditionContext): Check {
  return { action, resource, context };
}

function conditionsOf(call: Call, operation: string): ConditionContext {
  const list: [key: string, value: string | undefined][] =
    operation === 'ListObjects'
      ? [
          ['s3:prefix', call.parameter('prefix')],
          ['s3:delimiter', call.parameter('delimiter')],
          ['s3:max-keys', call.parameter('max-keys')],
        ]
      : [];
  const all: [key: string, value: string | undefined][] = [
    ...list,
    // The endpoint stands for one that is reached over TLS.
    ['s3:TlsVersion', '1.3'],
    ['s3:authType', call.claim?.form === 'query' ? 'REST-QUERY-STRING' : 'REST-HEADER'],
    ['s3:signatureversion', 'AWS4-HMAC-SHA256'],
    ['s3:x-amz-acl', call.header('x-amz-acl')],
    ['s3:x-amz-server-side-encryption', call.header('x-amz-server-side-encryption')],
    ['s3:if-none-match', call.header('if-none-match')],
  ];
  return Object.fromEntries(all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function keysToDelete(call: Call): string[] {
  return [...call.body.toString().matchAll(/<Key>([\s\S]*?)<\/Key>/g)].map(([, key]) =>
    (key ?? '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&apos;', "'")
      .replaceAll('&amp;', '&'),
  );
}
