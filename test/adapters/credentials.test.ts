import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { createCredentialSource } from '../../lambdas/adapters/credentials.ts';
import { createTestClock } from '../support/memory/index.ts';

const secrets = mockClient(SecretsManagerClient);
const holds = (value: unknown) =>
  secrets
    .on(GetSecretValueCommand)
    .resolves({ SecretString: typeof value === 'string' ? value : JSON.stringify(value) });
const fails = () =>
  secrets
    .on(GetSecretValueCommand)
    .rejects(Object.assign(new Error('Down'), { name: 'InternalServiceError', $metadata: { httpStatusCode: 500 } }));
const reads = () => secrets.commandCalls(GetSecretValueCommand).length;

function setUp() {
  const clock = createTestClock();
  return {
    clock,
    source: createCredentialSource(new SecretsManagerClient({ region: 'eu-west-1' }), 'providers', clock),
  };
}

beforeEach(() => {
  secrets.reset();
  holds({ company: 'key-c', geo: 'key-g' });
});

describe('credentials', () => {
  it('are read once for all providers, whoever asks at the same time', async () => {
    const { source } = setUp();
    expect(await Promise.all([source.get('company'), source.get('geo'), source.get('company')])).toEqual([
      'key-c',
      'key-g',
      'key-c',
    ]);
    await source.get('geo');
    expect(reads()).toBe(1);
    expect(secrets.commandCalls(GetSecretValueCommand)[0]?.args[0].input).toEqual({ SecretId: 'providers' });
  });

  it('are read again after five minutes, so that a rotation is seen without a deployment', async () => {
    const { source, clock } = setUp();
    await source.get('company');
    holds({ company: 'key-2', geo: 'key-g' });
    await clock.advance(299_000);
    expect(await source.get('company')).toBe('key-c');
    await clock.advance(2_000);
    expect(await source.get('company')).toBe('key-2');
  });

  it('that were refused are read again at once, once for ten who were refused', async () => {
    const { source } = setUp();
    await source.get('company');
    holds({ company: 'key-2', geo: 'key-g' });
    const changed = await Promise.all(Array.from({ length: 10 }, async () => source.refresh('company', 'key-c')));
    expect(changed).toEqual(Array.from({ length: 10 }, () => true));
    expect(await source.get('company')).toBe('key-2');
    expect(reads()).toBe(2);
  });

  it('that somebody else has refreshed meanwhile are not read once more', async () => {
    const { source } = setUp();
    await source.get('company');
    holds({ company: 'key-2', geo: 'key-g' });
    await source.refresh('company', 'key-c');
    expect(await source.refresh('company', 'key-c')).toBe(true);
    expect(reads()).toBe(2);
  });

  it('that are still the same say so', async () => {
    const { source } = setUp();
    await source.get('company');
    expect(await source.refresh('company', 'key-c')).toBe(false);
  });

  it('stay good while the service does not answer, and it is not asked all the time', async () => {
    const { source, clock } = setUp();
    await source.get('company');
    await clock.advance(300_000);
    fails();
    expect(await source.get('company')).toBe('key-c');
    expect(await source.get('company')).toBe('key-c');
    expect(reads()).toBe(2);
    holds({ company: 'key-2' });
    await clock.advance(30_000);
    expect(await source.get('company')).toBe('key-2');
  });

  it('that were never read make records wait', async () => {
    const { source } = setUp();
    fails();
    await expect(source.get('company')).rejects.toMatchObject({ name: 'DependencyUnavailableError', retryable: true });
    holds({ company: 'key-c' });
    expect(await source.get('company')).toBe('key-c');
  });

  it('that the secret lacks are looked for again after five seconds, not after five minutes', async () => {
    const { source, clock } = setUp();
    holds({ geo: 'key-g' });
    await expect(source.get('company')).rejects.toMatchObject({ name: 'CredentialMissingError' });
    await expect(source.get('company')).rejects.toMatchObject({ name: 'CredentialMissingError' });
    expect(await source.get('geo')).toBe('key-g');
    expect(reads()).toBe(1);
    holds({ company: 'key-c', geo: 'key-g' });
    await clock.advance(5_000);
    expect(await source.get('company')).toBe('key-c');
  });

  it('that stay refused are not read again for every call', async () => {
    const { source, clock } = setUp();
    await source.get('company');
    for (let calls = 0; calls < 10; calls++) expect(await source.refresh('company', 'key-c')).toBe(false);
    expect(reads()).toBe(2);
    holds({ company: 'key-2', geo: 'key-g' });
    await clock.advance(5_000);
    expect(await source.refresh('company', 'key-c')).toBe(true);
  });

  it('that were refused and cannot be read again say neither', async () => {
    const { source } = setUp();
    await source.get('company');
    fails();
    await expect(source.refresh('company', 'key-c')).rejects.toMatchObject({ retryable: true });
    expect(await source.get('company')).toBe('key-c');
  });

  it.each([
    ['is not JSON', 'planted-secret'],
    ['is no object', '["planted-secret"]'],
    ['has a value that is no text', { company: 1, geo: 'planted-secret' }],
    ['has a value that cannot be in a header', { company: 'planted-secret\r\nX-Evil: 1' }],
    ['has an empty value', { company: '', geo: 'planted-secret' }],
    ['lacks the provider', { geo: 'planted-secret' }],
  ])('make records wait when the secret %s, without repeating it', async (_, value) => {
    const { source } = setUp();
    holds(value);
    const error = await source.get('company').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ retryable: true, message: expect.stringMatching(/secret providers/) });
    expect(String(error)).not.toContain('planted');
  });

  it('may have spaces around them, as pasted ones do', async () => {
    const { source } = setUp();
    holds({ company: ' key-c\n' });
    expect(await source.get('company')).toBe('key-c');
  });
});
