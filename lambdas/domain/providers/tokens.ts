import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import * as v from 'valibot';
import { CredentialMissingError, DependencyUnavailableError } from '../errors.ts';
import type { Clock } from '../time.ts';
import { basic } from './authorize.ts';
import type { OAuth2, ProviderConfig } from './config.ts';
import type { CredentialSource, HttpTransport, TokenStore } from './ports.ts';

/*
 * Access tokens by OAuth 2.0 client credentials. One token serves the whole fleet: whoever needs a new one first takes a lease and gets
 * it, the others wait for it or go on with the one they have. It is stored encrypted with a key that is made from the client's secret: who
 * cannot read the secret cannot read the token, and with another secret there is another token.
 */

export interface TokenDeps {
  /** The client's ids and secrets, and the credentials of providers that need no token. */
  secrets: CredentialSource;
  store: TokenStore;
  transport: HttpTransport;
  clock: Clock;
  /** Name of this process among all of them. */
  owner: string;
  /** Unpredictable bytes. */
  randomBytes: (size: number) => Uint8Array;
}

/** A token is renewed when this part of its life is left, and a minute before its end at the latest. */
const RENEW_SHARE = 0.2;
const RENEW_MS = 60_000;
/** Where the provider does not say how long a token lives (RFC 6749 only recommends it). */
const DEFAULT_LIFE_SECONDS = 300;
const TOKEN_TIMEOUT_MS = 10_000;
const MAX_TOKEN_BYTES = 64 * 1024;
/** Longer than a token request takes. */
const LEASE_MS = TOKEN_TIMEOUT_MS + 5_000;
const POLL_MS = 300;
/** A token that was refused is replaced no sooner than this after it was issued. */
const REPLACE_AFTER_MS = 5_000;

interface Token {
  value: string;
  issuedAtMs: number;
  renewAtMs: number;
  expiresAtMs: number;
}

const seconds = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.transform(Number), v.number())]),
  v.finite(),
  v.minValue(1),
);
const answerSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/)),
    expires_in: v.optional(seconds, DEFAULT_LIFE_SECONDS),
  }),
);
const tokenSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ value: v.string(), issuedAtMs: v.number(), renewAtMs: v.number(), expiresAtMs: v.number() }),
);

/** Credentials as calls need them: tokens of providers with OAuth 2.0, nothing for those that want none, else what the secret says. */
export function createTokenSource(
  deps: TokenDeps,
  configs: readonly Pick<ProviderConfig, 'name' | 'baseUrl' | 'auth'>[],
): CredentialSource {
  const tokens = new Map(
    configs.flatMap(({ name, baseUrl, auth }): [string, TokenOfProvider][] =>
      'oauth2' in auth ? [[name, new TokenOfProvider(deps, name, baseUrl, auth.oauth2)]] : [],
    ),
  );
  const open = new Set(configs.filter(({ auth }) => 'none' in auth).map(({ name }) => name));
  return {
    async get(provider) {
      if (open.has(provider)) return '';
      const token = tokens.get(provider);
      return token === undefined ? deps.secrets.get(provider) : token.get();
    },
    async refresh(provider, refused) {
      if (open.has(provider)) return false;
      const token = tokens.get(provider);
      return token === undefined ? deps.secrets.refresh(provider, refused) : token.replace(refused);
    },
  };
}

class TokenOfProvider {
  readonly #deps: TokenDeps;
  readonly #name: string;
  readonly #url: string;
  readonly #oauth2: OAuth2;
  #token: Token | undefined;
  #getting: Promise<Token> | undefined;

  constructor(deps: TokenDeps, name: string, baseUrl: string, oauth2: OAuth2) {
    this.#deps = deps;
    this.#name = name;
    this.#oauth2 = oauth2;
    this.#url = oauth2.tokenUrl.startsWith('/') ? baseUrl.replace(/\/+$/, '') + oauth2.tokenUrl : oauth2.tokenUrl;
  }

  async get(): Promise<string> {
    const { clock } = this.#deps;
    if (this.#token !== undefined && clock.now() < this.#token.renewAtMs) return this.#token.value;
    return (await this.#getOnce()).value;
  }

  /** A token was refused: true when there is another one. */
  async replace(refused: string): Promise<boolean> {
    const { clock, secrets } = this.#deps;
    const known = this.#token;
    if (known !== undefined && known.value !== refused) return true;
    if (known !== undefined && clock.now() < known.issuedAtMs + REPLACE_AFTER_MS) return false;
    const client = await secrets.get(this.#name);
    try {
      return (await this.#getOnce(refused)).value !== refused;
    } catch (error) {
      // The client itself is refused: it may have been rotated.
      if (!(error instanceof CredentialMissingError) || !(await secrets.refresh(this.#name, client))) throw error;
      return (await this.#getOnce(refused)).value !== refused;
    }
  }

  /** Once for all who ask at the same time. */
  async #getOnce(refused?: string): Promise<Token> {
    this.#getting ??= this.#obtain(refused).finally(() => (this.#getting = undefined));
    this.#token = await this.#getting;
    return this.#token;
  }

  /** The fleet's token, or a new one; throws where neither is to be had in time. */
  async #obtain(refused: string | undefined): Promise<Token> {
    const { clock, store, owner, secrets, randomBytes } = this.#deps;
    const client = await secrets.get(this.#name);
    const giveUpAtMs = clock.now() + LEASE_MS;
    for (;;) {
      const nowMs = clock.now();
      const stored = unseal(await store.read(this.#name), client);
      const isUsable = stored !== undefined && stored.value !== refused && nowMs < stored.expiresAtMs;
      if (isUsable && nowMs < stored.renewAtMs) return stored;
      if (await store.claim(this.#name, { owner, nowMs, untilMs: nowMs + LEASE_MS })) {
        const token = await this.#request(client);
        await store.write(this.#name, owner, seal(token, client, randomBytes(NONCE_BYTES)));
        return token;
      }
      if (isUsable) return stored;
      if (nowMs > giveUpAtMs) {
        throw new DependencyUnavailableError(`No access token for provider "${this.#name}" was got in time.`);
      }
      await clock.sleep(POLL_MS);
    }
  }

  async #request(client: string): Promise<Token> {
    const { clock, transport } = this.#deps;
    const { scope, clientInBody } = this.#oauth2;
    const [id, secret] = splitClient(client);
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scope !== undefined) form.set('scope', scope);
    if (clientInBody) {
      form.set('client_id', id);
      form.set('client_secret', secret);
    }
    const result = await transport.request({
      method: 'POST',
      url: this.#url,
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(!clientInBody && { authorization: basic(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`) }),
      },
      body: form.toString(),
      timeoutMs: TOKEN_TIMEOUT_MS,
      maxBodyBytes: MAX_TOKEN_BYTES,
    });
    if (result.kind === 'failure') throw this.#unavailable(`did not answer (${result.cause})`);
    const { status } = result;
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
      throw new CredentialMissingError(
        `The token endpoint of provider "${this.#name}" refuses the client (${status}): correct it in the secret. Records wait until then.`,
        { action: 'oauth2:token', resource: new URL(this.#url).host },
      );
    }
    const answer = v.safeParse(answerSchema, Buffer.from(result.body).toString('utf8'));
    if (status !== 200 || !answer.success) throw this.#unavailable(`answered ${status} without a token`);
    const issuedAtMs = clock.now();
    const lifeMs = answer.output.expires_in * 1_000;
    const renewBeforeMs = Math.min(Math.max(lifeMs * RENEW_SHARE, RENEW_MS), lifeMs / 2);
    const expiresAtMs = issuedAtMs + lifeMs;
    return { value: answer.output.access_token, issuedAtMs, renewAtMs: expiresAtMs - renewBeforeMs, expiresAtMs };
  }

  /** Never quotes what the endpoint said: it may repeat the client. */
  #unavailable(what: string): DependencyUnavailableError {
    return new DependencyUnavailableError(`The token endpoint of provider "${this.#name}" ${what}.`);
  }
}

/** `client_id:client_secret`; a secret may hold colons. */
function splitClient(client: string): [id: string, secret: string] {
  const at = client.indexOf(':');
  return at < 0 ? [client, ''] : [client.slice(0, at), client.slice(at + 1)];
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const keyOf = (client: string): Buffer => createHash('sha256').update(`sluice token\n${client}`).digest();

function seal(token: Token, client: string, nonce: Uint8Array): string {
  const cipher = createCipheriv(CIPHER, keyOf(client), nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(token), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
}

/** Undefined for none, and for one of another client. */
function unseal(sealed: string | undefined, client: string): Token | undefined {
  if (sealed === undefined) return undefined;
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(client), bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return v.parse(tokenSchema, text.toString('utf8'));
  } catch {
    // Encrypted with another secret, or by another version: a new token replaces it.
    return undefined;
  }
}
