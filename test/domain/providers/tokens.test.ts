import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Auth } from '../../../lambdas/domain/providers/config.ts';
import type { CredentialSource, HttpTransport } from '../../../lambdas/domain/providers/ports.ts';
import { createTokenSource } from '../../../lambdas/domain/providers/tokens.ts';
import { respond } from '../../support/fake-provider.ts';
import { createTestClock } from '../../support/memory/index.ts';
import { createMemoryTokens } from '../../support/memory/tokens.ts';

const OAUTH: Auth = { oauth2: { tokenUrl: '/oauth/token', scope: 'read' } };
type Request = Parameters<HttpTransport['request']>[0];

/** A fleet of processes that share one store and one provider. */
function fleet({ auth = OAUTH } = {}) {
  const clock = createTestClock({ autoAdvance: true });
  const store = createMemoryTokens();
  const requests: Request[] = [];
  const secret = { value: 'id:s:cret', accepted: 'id:s:cret' };
  let answer: ((number: number) => ReturnType<typeof respond>) | undefined;
  const transport: HttpTransport = {
    async request(request) {
      requests.push(request);
      await clock.sleep(50);
      if (answer !== undefined) return answer(requests.length);
      const expected = `Basic ${Buffer.from(secret.accepted.replace('s:cret', 's%3Acret')).toString('base64')}`;
      if (request.headers['authorization'] !== expected) return respond(401, { error: 'invalid_client' });
      return respond(200, { access_token: `token-${requests.length}`, expires_in: 3_600 });
    },
  };
  const source = (owner: string): CredentialSource => {
    let known = secret.value;
    const secrets: CredentialSource = {
      get: async () => known,
      refresh: async (_name, refused) => (known = secret.value) !== refused,
    };
    const config = { name: 'company', baseUrl: 'https://company.example.com/', auth };
    return createTokenSource({ secrets, store, transport, clock, owner, randomBytes }, [config]);
  };
  return { clock, store, requests, secret, source, answerWith: (next: typeof answer) => (answer = next) };
}

describe('an access token', () => {
  it('is asked for once for all processes and calls, with the client in a header', async () => {
    const { source, requests } = fleet();
    const [one, other] = [source('a'), source('b')];
    const got = await Promise.all([one.get('company'), one.get('company'), other.get('company')]);
    expect(got).toEqual(['token-1', 'token-1', 'token-1']);
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: 'https://company.example.com/oauth/token',
        body: 'grant_type=client_credentials&scope=read',
      },
    ]);
  });

  it('is renewed before its end by one, while the others go on with it', async () => {
    const { source, requests, clock } = fleet();
    const [one, other] = [source('a'), source('b')];
    await one.get('company');
    await other.get('company');
    await clock.advance(3_600_000 * 0.81);
    const got = await Promise.all([one.get('company'), other.get('company')]);
    expect(got.toSorted()).toEqual(['token-1', 'token-2']);
    expect(await other.get('company')).toBe('token-2');
    expect(requests).toHaveLength(2);
  });

  it('is stored so that only who has the client can read it', async () => {
    const { source, store } = fleet();
    await source('a').get('company');
    const text = Buffer.from(store.sealed.get('company') ?? '', 'base64').toString('latin1');
    expect(text).not.toMatch(/token-1|s:cret/);
  });

  it('is replaced when it is refused, though not for every call that meets it', async () => {
    const { source, requests, clock } = fleet();
    const [one, other] = [source('a'), source('b')];
    expect(await one.get('company')).toBe('token-1');
    expect(await one.refresh('company', 'token-1')).toBe(false);
    await clock.advance(6_000);
    expect(await one.refresh('company', 'token-1')).toBe(true);
    expect(await one.get('company')).toBe('token-2');
    expect(await other.get('company')).toBe('token-2');
    expect(await one.refresh('company', 'token-1')).toBe(true);
    expect(requests).toHaveLength(2);
  });

  it('follows a rotated client', async () => {
    const { source, secret, clock } = fleet();
    const one = source('a');
    await one.get('company');
    await clock.advance(6_000);
    Object.assign(secret, { value: 'id2:s:cret', accepted: 'id2:s:cret' });
    expect(await one.refresh('company', 'token-1')).toBe(true);
    expect(await one.get('company')).toBe('token-3');
  });

  it.each<[string, unknown, string]>([
    [
      'refuses the client',
      respond(400, { error: 'invalid_client', client_secret: 's:cret' }),
      'CredentialMissingError',
    ],
    ['answers something else', respond(200, { token: 's:cret' }), 'DependencyUnavailableError'],
    ['is out', respond(503, {}), 'DependencyUnavailableError'],
    ['has no time', respond(429, {}), 'DependencyUnavailableError'],
  ])('is not there when its endpoint %s, and nothing tells the secret', async (_how, result, name) => {
    const { source, answerWith } = fleet();
    answerWith(() => result as ReturnType<typeof respond>);
    const error = await source('a')
      .get('company')
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name });
    expect(String(error)).not.toContain('s:cret');
  });

  it('has the client in the form where the provider wants it so', async () => {
    const { source, requests, answerWith } = fleet({
      auth: { oauth2: { tokenUrl: 'https://login.example.com/t', clientInBody: true } },
    });
    answerWith(() => respond(200, { access_token: 'x', expires_in: '60' }));
    expect(await source('a').get('company')).toBe('x');
    expect(requests).toMatchObject([
      { url: 'https://login.example.com/t', body: 'grant_type=client_credentials&client_id=id&client_secret=s%3Acret' },
    ]);
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is no matter of providers without OAuth 2.0: the secret is theirs, or nothing', async () => {
    expect(
      await fleet({ auth: { basic: true } })
        .source('a')
        .get('company'),
    ).toBe('id:s:cret');
    const open = fleet({ auth: { none: true } }).source('a');
    expect([await open.get('company'), await open.refresh('company', '')]).toEqual(['', false]);
  });

  it('is taken over from a process that died while it asked', async () => {
    const { source, store, clock } = fleet();
    await store.claim('company', { owner: 'dead', nowMs: clock.now(), untilMs: clock.now() + 10_000 });
    expect(await source('a').get('company')).toBe('token-1');
  });
});
