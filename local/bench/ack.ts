import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Rig } from '../drills/rig.ts';
import { limitOf, type BenchContext } from './context.ts';
import { atMost, decimals, percentile, reported, type BenchResult } from './result.ts';

const ROWS = [50, 200_000] as const;
const CONCURRENT = 50;
const ROUNDS = 3;
const MOST_GROWTH = 1.2;
const DIRECTORY = join(resolve(import.meta.dirname, '..', '..'), '.local', 'bench');
/** Nothing is enriched here, so no limit matters; nothing of what is accepted is done, so much is open. */
const LIMIT = limitOf(100);
const OPEN = { MAX_OPEN_RECORDS: '1000000000', MAX_OPEN_RECORDS_PER_TENANT: '1000000000' };

/** Accepts uploaded files of two sizes, many at the same time, while nothing else runs. */
export async function ack({ withRig, say }: BenchContext): Promise<BenchResult> {
  say(`ack: ${ROUNDS} rounds of ${CONCURRENT} submissions at the same time, of ${ROWS.join(' and ')} rows …`);
  return withRig({ limit: LIMIT, variables: OPEN }, async (rig) => {
    await holdWork(rig);
    const uploads = await uploadAll(rig);
    const durations = new Map<number, number[]>(ROWS.map((rows) => [rows, []]));
    for (let round = 0; round < ROUNDS; round++) {
      // Each size goes first in turn.
      const order = round % 2 === 0 ? ROWS : ROWS.toReversed();
      for (const rows of order) {
        const ids = uploads.get(rows)?.splice(0, CONCURRENT) ?? [];
        durations.get(rows)?.push(...(await submitAtOnce(rig, ids)));
      }
    }
    const [small, large] = ROWS.map((rows) => durations.get(rows) ?? []);
    return { name: 'ack', figures: figuresOf(small ?? [], large ?? []) };
  });
}

function figuresOf(small: readonly number[], large: readonly number[]): BenchResult['figures'] {
  const show = decimals(1, ' ms');
  const both = (of: readonly number[]): string =>
    `p50 ${show(percentile(of, 0.5))}, p99 ${show(percentile(of, 0.99))} of ${of.length}`;
  return [
    reported(`${ROWS[0]} rows`, both(small)),
    reported(`${ROWS[1]} rows`, both(large)),
    atMost('p99 of the large ÷ of the small', percentile(large, 0.99) / percentile(small, 0.99), MOST_GROWTH),
  ];
}

/** Lets no event source go on after the poll that is under way: its message is that of a first, tiny submission. */
async function holdWork({ sluice: { events }, client }: Rig): Promise<void> {
  for (const source of events.sources) source.pause();
  const tiny = await csvOf(1);
  await client.submitFile(tiny, 'first');
  // The environments that the measured requests find.
  const ids = await Promise.all(Array.from({ length: CONCURRENT }, async () => client.upload(tiny)));
  await Promise.all(ids.map(async (id) => client.submit(id, 'warm')));
}

/** Short rows: it is their number that must not matter, and the emulator keeps all files in memory. */
async function csvOf(rows: number): Promise<string> {
  const path = join(DIRECTORY, `short-${rows}.csv`);
  await mkdir(DIRECTORY, { recursive: true });
  const lines = Array.from({ length: rows }, (_, index) => `r${index + 1}\n`);
  await writeFile(path, `record_id\n${lines.join('')}`);
  return path;
}

async function uploadAll({ client }: Rig): Promise<Map<number, string[]>> {
  const uploads = new Map<number, string[]>();
  for (const rows of ROWS) {
    const path = await csvOf(rows);
    const ids: string[] = [];
    for (let count = 0; count < CONCURRENT * ROUNDS; count++) ids.push(await client.upload(path));
    uploads.set(rows, ids);
  }
  return uploads;
}

/** Durations of the function alone, as its REPORT lines have them, ms. */
async function submitAtOnce({ sluice, client }: Rig, uploadIds: readonly string[]): Promise<number[]> {
  const { name } = sluice.functionOf('submit');
  const durations: number[] = [];
  const stop = sluice.functions.onInvocation(({ functionName, durationMs }) => {
    if (functionName === name) durations.push(durationMs);
  });
  await Promise.all(uploadIds.map(async (id) => client.submit(id, 'bench')));
  stop();
  return durations;
}
