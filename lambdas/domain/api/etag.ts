import { createHash } from 'node:crypto';

/** A weak validator (RFC 9110): equal for values that serialize to the same JSON. */
export const etagOf = (value: unknown): string =>
  `W/"${createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)}"`;

/** Whether an `If-None-Match` header names the tag, compared weakly as RFC 9110 asks. */
export const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === '*' || withoutWeakness(tag) === withoutWeakness(etag));

const withoutWeakness = (tag: string): string => tag.replace(/^W\//, '');
