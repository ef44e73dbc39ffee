import { ObjectChangedError, ObjectMissingError } from '../../domain/errors.ts';
import { awsErrorFacts, dependencyError } from '../aws-errors.ts';

/** Refusals that say something about the caller's clock or credentials, and nothing about the object. */
const NOT_ABOUT_THE_OBJECT: ReadonlySet<string> = new Set([
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'InvalidAccessKeyId',
  'ExpiredToken',
  'InvalidToken',
]);

/** True when there is no such object: S3 says 403 instead of 404 to those who may not list the bucket. */
export function isMissing(error: unknown): boolean {
  const facts = awsErrorFacts(error);
  if (facts === undefined || facts.name === 'NoSuchBucket') return false;
  return facts.status === 404 || (facts.status === 403 && !NOT_ABOUT_THE_OBJECT.has(facts.name));
}

/** What to throw for an error of a read: what became of the object, or that S3 did not work. */
export function readError(error: unknown, key: string): unknown {
  if (isMissing(error)) return new ObjectMissingError(`There is no object ${key} that we may read.`, { cause: error });
  if (awsErrorFacts(error)?.status === 412) {
    return new ObjectChangedError(`The object ${key} is not the accepted one any more.`, { cause: error });
  }
  return dependencyError(error, `reading the object ${key}`);
}
