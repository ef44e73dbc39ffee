import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { CredentialMissingError } from '../domain/errors.ts';
import type { CredentialSource } from '../domain/providers/ports.ts';
import type { Clock } from '../domain/time.ts';
import { dependencyError, type AwsCall } from './aws-errors.ts';

/** A rotated secret is seen after this long without anybody's help, or at once when the old value is refused. */
const MAX_AGE_MS = 300_000;
/** A secret that lacks a credential, or holds a refused one, is about to be corrected: it is read again after this long. */
const DOUBTED_AGE_MS = 5_000;
/** While the service does not answer, the last good value is used and the service is asked again no sooner than this. */
const RETRY_AFTER_MS = 30_000;

/** Printable ASCII without spaces around it: anything else cannot be part of a header. */
const credential = v.pipe(v.string(), v.trim(), v.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/));
const secretSchema = v.pipe(v.string(), v.parseJson(), v.record(v.string(), credential));
type Secret = v.InferOutput<typeof secretSchema>;

/**
 * Credentials of the providers from one secret, a JSON object with one text per provider. Read at most once at a time,
 * whoever asks. Values appear in no error and no log.
 */
export function createCredentialSource(
  client: Pick<SecretsManagerClient, 'send'>,
  secretId: string,
  clock: Clock,
): CredentialSource {
  let cached: { secret: Secret; readAtMs: number; staleAtMs: number } | undefined;
  let reading: Promise<Secret> | undefined;
  let refreshedAtMs = -Infinity;

  const read = async (): Promise<Secret> => {
    const secret = await fetchSecret(client, secretId);
    const readAtMs = clock.now();
    cached = { secret, readAtMs, staleAtMs: readAtMs + MAX_AGE_MS };
    return secret;
  };
  const readOnce = async (): Promise<Secret> => {
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  };
  const current = async (provider: string): Promise<Secret> => {
    const maxAgeMs = cached?.secret[provider] === undefined ? DOUBTED_AGE_MS : Infinity;
    if (cached !== undefined && clock.now() < Math.min(cached.staleAtMs, cached.readAtMs + maxAgeMs)) {
      return cached.secret;
    }
    try {
      return await readOnce();
    } catch (error) {
      if (cached === undefined) throw error;
      cached = { ...cached, readAtMs: clock.now(), staleAtMs: clock.now() + RETRY_AFTER_MS };
      return cached.secret;
    }
  };

  return {
    async get(provider) {
      return valueOf(await current(provider), provider, secretId);
    },
    async refresh(provider, refused) {
      // Somebody else found out before us, and has read it again already.
      if (cached !== undefined && cached.secret[provider] !== refused) return true;
      // Nor is it read for every call that is refused.
      const nowMs = clock.now();
      if (reading === undefined && nowMs < refreshedAtMs + DOUBTED_AGE_MS) return false;
      refreshedAtMs = nowMs;
      return valueOf(await readOnce(), provider, secretId) !== refused;
    },
  };
}

const callOf = (secretId: string): AwsCall => ({
  service: 'secretsmanager',
  action: 'GetSecretValue',
  resource: secretId,
});

/** The secret can be read, and must be corrected by a person. */
const unusable = (sentence: string, secretId: string): CredentialMissingError =>
  new CredentialMissingError(sentence, { action: 'secretsmanager:GetSecretValue', resource: secretId });

function valueOf(secret: Secret, provider: string, secretId: string): string {
  const value = secret[provider];
  if (value !== undefined) return value;
  throw unusable(
    `The secret ${secretId} has no credential for provider "${provider}": add it. Records wait until then.`,
    secretId,
  );
}

async function fetchSecret(client: Pick<SecretsManagerClient, 'send'>, secretId: string): Promise<Secret> {
  let text: string | undefined;
  try {
    text = (await client.send(new GetSecretValueCommand({ SecretId: secretId }))).SecretString;
  } catch (error) {
    throw dependencyError(error, `reading the secret ${secretId}`, callOf(secretId));
  }
  const parsed = v.safeParse(secretSchema, text);
  if (parsed.success) return parsed.output;
  // The parser's own words could quote a value.
  throw unusable(
    `The secret ${secretId} is not a JSON object of credentials (printable ASCII) by provider: correct it. Records wait until then.`,
    secretId,
  );
}
