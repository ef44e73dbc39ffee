import { LocalCloudError } from '../../errors.ts';
import { conditionKeysOf, type PolicyDocument } from './documents.ts';

export type ConditionContext = Readonly<Record<string, string | readonly string[]>>;

/** Condition keys, in lower case, that the local cloud gives a value wherever AWS does. */
const SUPPLIED = new Set([
  'aws:principalaccount',
  'aws:principalarn',
  'aws:principalisawsservice',
  'aws:principalservicename',
  'aws:principaltype',
  'aws:requestedregion',
  'aws:resourceaccount',
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'aws:sourceip',
  'aws:viaawsservice',
  'dynamodb:leadingkeys',
  'kms:calleraccount',
  'lambda:functionurlauthtype',
  'lambda:invokedviafunctionurl',
  'kms:viaservice',
  's3:authtype',
  's3:delimiter',
  's3:if-none-match',
  's3:max-keys',
  's3:prefix',
  's3:signatureversion',
  's3:tlsversion',
  's3:x-amz-acl',
  's3:x-amz-server-side-encryption',
  // Only present in requests that AWS services make for themselves, so never here.
  'kms:encryptioncontext:aws:logs:arn',
  'kms:grantisforawsresource',
]);

/**
 * Condition keys that the policies mention. Only these can change a decision, so only these are looked at.
 *
 * @throws LocalCloudError when a policy depends on a key that the local cloud cannot give
 */
export function mentionedConditionKeys(policies: Iterable<{ place: string; document: PolicyDocument }>): Set<string> {
  const mentioned = new Set<string>();
  for (const { place, document } of policies) {
    for (const key of conditionKeysOf(document)) {
      if (!SUPPLIED.has(key)) {
        throw new LocalCloudError(
          `${place} has a condition on ${key}, which the local cloud has no value for; see aws/authorization/context.ts of the local cloud.`,
        );
      }
      mentioned.add(key);
    }
  }
  return mentioned;
}

/** The values of the keys that can matter, and a text that is equal for equal values. */
export function relevantContext(
  context: ConditionContext,
  mentioned: ReadonlySet<string>,
): { values: Record<string, string | string[]>; cacheKey: string } {
  const values: Record<string, string | string[]> = {};
  if (mentioned.size === 0) return { values, cacheKey: '' };
  for (const [key, value] of Object.entries(context)) {
    if (mentioned.has(key.toLowerCase())) values[key] = typeof value === 'string' ? value : [...value];
  }
  return { values, cacheKey: JSON.stringify(values) };
}
