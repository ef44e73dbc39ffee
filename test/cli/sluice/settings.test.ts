import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../../cli/sluice/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-settings-'));
const config = join(directory, 'config.json');
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const read = (environment: Record<string, string>, options: { url?: string; config?: string } = {}) =>
  readSettings({ url: undefined, config: undefined, ...options }, { XDG_CONFIG_HOME: directory, ...environment });

test('an option goes before a variable, and a variable before the file', async () => {
  writeFileSync(config, JSON.stringify({ url: 'https://file.example/prod', key: 'slk_file' }));
  expect(await read({}, { config })).toEqual({ url: 'https://file.example/prod', key: 'slk_file' });
  expect(await read({ SLUICE_URL: 'https://env.example/', SLUICE_KEY: 'slk_env\n' }, { config })).toEqual({
    url: 'https://env.example',
    key: 'slk_env',
  });
  expect(await read({ SLUICE_URL: 'https://env.example' }, { config, url: 'http://option.example' })).toEqual({
    url: 'http://option.example',
    key: 'slk_file',
  });
});

test.each([
  [{}, {}, 2, /URL of the API is missing: give --url.*SLUICE_URL.*config\.json/],
  [{ SLUICE_URL: 'host/stage' }, {}, 2, /"host\/stage": give it like https:\/\/host\/stage/],
  [{ SLUICE_URL: 'https://h.example' }, {}, 4, /API key is missing: set the variable SLUICE_KEY/],
  [{ SLUICE_URL: 'https://h.example', SLUICE_KEY: 'slk secret' }, {}, 4, /characters that no key has/],
  [{}, { config: join(directory, 'none.json') }, 2, /none\.json cannot be read: .*ENOENT/],
])(
  '%j, %j: what is missing is named with the places where it can be set',
  async (environment, options, exitCode, message) => {
    const error: unknown = await read(environment, options).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ exitCode, message: expect.stringMatching(message) });
    expect(String(error)).not.toContain('secret');
  },
);

test('a file that is no JSON is named, but not quoted: a key may be in it', async () => {
  const broken = join(directory, 'broken.json');
  writeFileSync(broken, '{"key": "slk_secret"');
  await expect(read({}, { config: broken })).rejects.toThrow(/broken\.json is not JSON: write/);
  await expect(read({}, { config: broken })).rejects.not.toThrow(/slk_secret/);
});
