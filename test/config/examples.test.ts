import { randomBytes } from 'node:crypto';
import { EXAMPLES } from '../../config/examples/index.ts';
import { checkConfiguration } from '../../config/provider-schema.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { createHttpTransport } from '../../lambdas/adapters/http/http-transport.ts';
import { callProvider } from '../../lambdas/domain/providers/call.ts';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import { createTokenSource } from '../../lambdas/domain/providers/tokens.ts';
import { systemClock as clock } from '../../lambdas/runtime/clock.ts';
import { startProviders, type Providers } from '../../local/providers/start.ts';
import { randomCredentials } from '../../local/setup.ts';
import { createMemoryWorld } from '../support/memory/index.ts';
import { createMemoryTokens } from '../support/memory/tokens.ts';

const SECRET = 'user:planted-secret';
let providers: Providers;
const transport = createHttpTransport();
beforeAll(async () => {
  const credentials = Object.fromEntries(EXAMPLES.map(({ name }) => [name, SECRET]));
  providers = await startProviders({ providers: EXAMPLES, credentials });
  // What is asked here is how answers are understood, and not how fast.
  for (const { name } of EXAMPLES) await providers.control(name, { latencyMs: 0, ratePerSecond: 1_000, burst: 1_000 });
});
afterAll(async () => {
  transport.close();
  await providers.stop();
});

it('there are eight, of different kinds', () => {
  expect(new Set(EXAMPLES.map(({ name }) => name)).size).toBe(8);
  expect(new Set(EXAMPLES.flatMap(({ auth }) => Object.keys(auth)[0] ?? '')).size).toBe(5);
  expect(EXAMPLES.some(({ method }) => method === 'POST')).toBe(true);
});

describe.each(EXAMPLES)('the example $name', (example) => {
  /** Asks the stand-in as a worker does, and tells everything that was logged. */
  async function ask(fields: Record<string, string>, secret = SECRET) {
    const config: ProviderConfig = { ...example, baseUrl: providers.baseUrls[example.name] ?? '' };
    const [provider] = prepareProviders([config]);
    if (provider === undefined) throw new Error('It is one provider.');
    const world = createMemoryWorld({ clock });
    const credentials = createTokenSource(
      {
        secrets: { get: async () => secret, refresh: async () => false },
        store: createMemoryTokens(),
        transport,
        clock,
        owner: 'test',
        randomBytes,
      },
      [config],
    );
    const deps = { ...world, transport, credentials, clock, random: Math.random, owner: 'test' };
    const run = { deps, provider, budget: { remainingMs: () => 60_000 }, seenAtMs: 0 };
    const request = provider.requestFor(fields);
    if (request.kind !== 'request') throw new Error(`${example.name} makes no request.`);
    return { outcome: await callProvider(run, request), logged: JSON.stringify(world.telemetry.events) };
  }
  const withKey = (key: string) => Object.fromEntries(example.lookup.map((field) => [field, key]));

  it('is a usable configuration', () => {
    expect(() => checkConfiguration([example], recordSchema)).not.toThrow();
  });

  it('finds its canary, and keeps what it names of the answer', async () => {
    const { outcome } = await ask(example.canary);
    expect(outcome).toMatchObject({ kind: 'answer', answer: { kind: 'found' } });
    const data: unknown = Reflect.get(Reflect.get(outcome, 'answer'), 'data');
    expect(Object.keys(Object(data)).toSorted()).toEqual(Object.keys(example.output ?? {}).toSorted());
  });

  it('takes the credential that the local cloud makes for it', async () => {
    const made = randomCredentials([example.name])[example.name] ?? '';
    await providers.rotate(example.name, [made]);
    try {
      expect((await ask(example.canary, made)).outcome).toMatchObject({ answer: { kind: 'found' } });
    } finally {
      await providers.rotate(example.name, [SECRET]);
    }
  });

  it('finds nothing about what nobody knows', async () => {
    expect((await ask(withKey('unknown-key.example'))).outcome).toMatchObject({ answer: { kind: 'not_found' } });
  });

  it('lets a failure of the provider pass, and tells its secret in no log', async () => {
    const { outcome, logged } = await ask(withKey('status-503.example.com'));
    expect(outcome).toMatchObject({ kind: 'transient' });
    expect(logged).toContain('provider_call');
    expect(logged).not.toMatch(/planted-secret|cGxhbnRlZC1zZWNyZXQ/);
  });

  if (!('none' in example.auth)) {
    it('knows a refused credential, and does not tell it', async () => {
      const { outcome, logged } = await ask(example.canary, 'user:planted-secret-2');
      // A client that gets no token waits as one whose credential is refused.
      expect(outcome.kind === 'deferred' ? outcome.reason : outcome.kind).toMatch(/auth/);
      expect(`${JSON.stringify(outcome)}${logged}`).not.toContain('planted-secret');
    });
  }
});
