import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { account, beginCount } from '../drills/account.ts';
import { reconcileNow, submitGenerated, submitText, untilClosed, untilFinished, type Rig } from '../drills/rig.ts';
import { randomCredentials, putProvidersSecret } from '../setup.ts';
import { ApiClient } from '../demo/client.ts';
import type { BenchContext, ProviderLimit } from './context.ts';
import { atLeast, atMost, decimals, exactly, reported, type BenchResult, type Figure } from './result.ts';

const PATIENCE_MS = 600_000;
/** Low enough that this machine feeds it: what is compared is waiting, not processor time. */
const LIMIT: ProviderLimit = { ratePerSecond: 60, burst: 10 };
const RECORDS = 1_000;
const TINY_FILES = 500;

const HEADER = 'record_id,name,email,domain,country,postal_code\n';
/** A record for which the first provider answers 403, as if our credential were refused. */
const POISONED = `${HEADER}poison,P,p@acme.example,status-403.example.com,DE,10115\n`;

/** What one record, one moment or one tenant costs everybody else. */
export async function neighbours({ withRig, say, records = RECORDS }: BenchContext): Promise<BenchResult> {
  const alone = async (what: string, measure: (rig: Rig) => Promise<Figure[]>): Promise<Figure[]> => {
    say(`neighbours: ${what} …`);
    return withRig({ limit: LIMIT }, measure);
  };
  const figures = [
    await alone('a record that a provider answers with 403', (rig) => poisoned(rig, records)),
    await alone('five seconds of 400 for everybody', (rig) => wrongAnswers(rig, records, 400, 5_000)),
    await alone('ten seconds of 404 for everybody', (rig) => wrongAnswers(rig, records, 404, 10_000)),
    await alone(`${TINY_FILES} files of one record of another tenant`, tinyFiles),
    await alone('a secret that lacks one provider while workers are killed', (rig) => lackingSecret(rig, records)),
  ];
  return { name: 'neighbours', figures: figures.flat() };
}

/** As the other tenant of the rig. */
function otherOf(rig: Rig): Rig {
  const apiKey = rig.sluice.tenants[1]?.apiKey;
  if (apiKey === undefined) throw new RangeError('The local cloud has two tenants.');
  return { ...rig, client: new ApiClient(rig.sluice.apiUrl, apiKey) };
}

async function secondsOf(rig: Rig, records: number): Promise<number> {
  const startedAt = performance.now();
  const { id } = await submitGenerated(rig, records);
  await untilClosed(rig, id, PATIENCE_MS);
  return (performance.now() - startedAt) / 1_000;
}

async function poisoned(rig: Rig, records: number): Promise<Figure[]> {
  const other = otherOf(rig);
  await secondsOf(other, records);
  const without = await secondsOf(other, records);
  await submitText(rig, POISONED);
  const withIt = await secondsOf(other, records);
  return [atMost('time of another tenant with a record that is answered 403 ÷ without', withIt / without, 1.1)];
}

async function wrongAnswers(rig: Rig, records: number, status: number, forMs: number): Promise<Figure[]> {
  await beginCount(rig);
  const { id } = await submitGenerated(rig, records);
  await untilFinished(rig, id, records / 4, PATIENCE_MS);
  const [name = ''] = Object.keys(rig.sluice.providers.baseUrls);
  await rig.sluice.providers.control(name, { status, forMs });
  const told = await account(rig, await untilClosed(rig, id, PATIENCE_MS));
  return [
    exactly(`good records failed after ${forMs / 1_000} s of ${status}`, told.goodFailed, 0),
    exactly('of them succeeded without what there is', await unmatched(rig, id, name), 0),
    reported('extra calls', `${told.extraCallsPercent} %`),
  ];
}

const lineSchema = v.pipe(v.string(), v.parseJson(), v.object({ match: v.record(v.string(), v.string()) }));

/** Succeeded records whose answer of the provider is missing: generated domains are all known to the stand-in. */
async function unmatched(rig: Rig, id: string, provider: string): Promise<number> {
  const { files } = await rig.client.results(id);
  let count = 0;
  for (const { url } of files.filter(({ kind, format }) => kind === 'succeeded' && format === 'ndjson')) {
    const text = await (await fetch(url)).text();
    for (const line of text.split('\n').filter(Boolean)) {
      if (v.parse(lineSchema, line).match[provider] === 'not_found') count++;
    }
  }
  return count;
}

async function tinyFiles(rig: Rig): Promise<Figure[]> {
  const other = otherOf(rig);
  await secondsOf(other, 5);
  const without = await secondsOf(other, 5);
  const upload = `${HEADER}one,O,o@acme.example,acme.example,DE,10115\n`;
  const left = Array.from({ length: TINY_FILES }, (_, index) => index);
  const post = async (): Promise<void> => {
    while (left.pop() !== undefined) {
      await fetch(`${rig.sluice.apiUrl}/v1/submissions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${rig.sluice.tenants[0]?.apiKey ?? ''}`, 'content-type': 'text/csv' },
        body: upload,
      });
    }
  };
  await Promise.all([post(), post(), post(), post()]);
  const behind = await secondsOf(other, 5);
  return [
    atMost(
      `delay of five records behind ${TINY_FILES} files of another tenant`,
      behind - without,
      5,
      decimals(1, ' s'),
    ),
  ];
}

/** A share of the limit, over some seconds, that counts as full pace. */
const FULL_SHARE = 0.8;
const LACKING_MS = 15_000;

async function lackingSecret(rig: Rig, records: number): Promise<Figure[]> {
  const { providers, cloud, resources } = rig.sluice;
  const names = Object.keys(providers.baseUrls);
  const [first = '', ...others] = names;
  const secretArn = Object.values(resources.secrets)[0] ?? '';
  const all = randomCredentials(names);
  const put = async (credentials: Readonly<Record<string, string>>): Promise<void> =>
    putProvidersSecret(cloud, secretArn, credentials);
  for (const name of names) await providers.rotate(name, [all[name] ?? '']);
  await put(all);
  rig.sluice.killWorkers();
  const { id } = await submitGenerated(rig, 3 * records);
  await untilFinished(rig, id, records / 4, PATIENCE_MS);
  await put(Object.fromEntries(others.map((name) => [name, all[name] ?? ''])));
  for (const until = performance.now() + LACKING_MS; performance.now() < until; await sleep(3_000)) {
    rig.sluice.killWorkers();
  }
  await put(all);
  const repairedAt = performance.now();
  const seconds = await untilFullPace(rig, id, first, repairedAt);
  const told = await account(rig, await untilClosed(rig, id, PATIENCE_MS));
  return [
    atMost('from the repair of the secret to full pace', seconds, 60, decimals(0, ' s')),
    exactly('good records failed', told.goodFailed, 0),
    atLeast('records with exactly one outcome', told.accounted / told.records, 1),
  ];
}

/** Until a provider is called at nearly its limit again, or the file has ended. */
async function untilFullPace(rig: Rig, id: string, name: string, sinceMs: number): Promise<number> {
  const WINDOW_SECONDS = 4;
  for (;;) {
    const before = (await rig.sluice.providers.counters(name)).calls;
    await sleep(WINDOW_SECONDS * 1_000);
    await reconcileNow(rig, id);
    const perSecond = ((await rig.sluice.providers.counters(name)).calls - before) / WINDOW_SECONDS;
    const seconds = (performance.now() - sinceMs) / 1_000;
    if (perSecond >= FULL_SHARE * LIMIT.ratePerSecond || seconds > PATIENCE_MS / 1_000) return seconds;
  }
}
