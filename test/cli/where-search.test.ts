import { describe, expect, it } from '@jest/globals';
import { UsageError } from '../../cli/usage.ts';
import { runWhere } from '../../cli/where.ts';
import { InvalidDataError } from '../../lambdas/domain/errors.ts';
import { makeProcessing, makeRow } from '../support/factories.ts';
import { createMemoryWorld, createTestClock, noHook, START_MS } from '../support/memory/index.ts';

const DAY_MS = 86_400_000;
const DAY = new Date(START_MS).toISOString().slice(0, 10);

/** A tenant with a file on the day before, two on the day, and one on the day after; another tenant with one. */
async function createWorld() {
  const clock = createTestClock();
  const world = createMemoryWorld({ clock, hook: noHook });
  const add = async (submissionId: string, createdAtMs: number, fileName: string, tenantId = 'acme'): Promise<void> => {
    await world.submissions.create(makeProcessing(1_200, { submissionId, createdAtMs, fileName, tenantId }));
  };
  await add('sub_before', START_MS - DAY_MS, 'orders.csv');
  await add('sub_orders', START_MS, 'Orders of today.csv');
  await add('sub_people', START_MS + 1, 'people.csv');
  await add('sub_after', START_MS + DAY_MS, 'orders.csv');
  await add('sub_other', START_MS, 'orders.csv', 'other');
  const where = async (...args: string[]): Promise<string> => {
    const lines: string[] = [];
    await runWhere({ ...world, clock, print: (line) => void lines.push(line) }, args);
    return lines.join('\n');
  };
  return { world, where };
}

describe('where, by what a customer knows', () => {
  it('lists the submissions of a tenant and a day, newest first', async () => {
    const { where } = await createWorld();
    const text = await where('--tenant', 'acme', '--day', DAY);
    expect(text.match(/sub_\w+/g)).toEqual(['sub_people', 'sub_orders']);
    expect(text).toMatch(/sub_people {2}\S+Z {2}processing, 1200 records: people\.csv/);
    expect(await where('--tenant', 'acme', '--day', 'today')).toContain('sub_orders');
    expect(await where('--tenant', 'acme', '--day', 'yesterday')).toMatch(/^sub_before: processing/);
  });

  it('shows the one whose file name matches, or a record of it', async () => {
    const { where } = await createWorld();
    expect(await where('--tenant', 'acme', '--day', DAY, '--file', 'ORDERS')).toMatch(/^sub_orders: processing/);
    expect(await where('--tenant', 'acme', '--day', DAY, '--file', 'orders', '1100')).toMatch(
      /^Record 1100 of sub_orders: pending/,
    );
  });

  it("finds a record by the customer's id, in any submission of the day or in the one named", async () => {
    const { world, where } = await createWorld();
    await world.records.put(makeRow({ submissionId: 'sub_orders', recordNo: 1_001, recordId: 'c-7' }));
    await world.records.put(makeRow({ submissionId: 'sub_after', recordNo: 5, recordId: 'c-7' }));
    const text = await where('--tenant', 'acme', '--day', DAY, '--record-id', 'c-7');
    expect(text.match(/^Record .*$/gm)).toEqual(['Record 1001 of sub_orders: succeeded']);
    expect(await where('sub_after', '--record-id', 'c-7')).toMatch(/^Record 5 of sub_after: succeeded/);
    await expect(where('sub_people', '--record-id', 'c-7')).rejects.toThrow(
      /No record of sub_people is known as "c-7"/,
    );
  });

  it('says what is missing or wrong', async () => {
    const { where } = await createWorld();
    await expect(where('--tenant', 'acme')).rejects.toThrow(UsageError);
    await expect(where('--tenant', 'acme', '--day', 'Monday')).rejects.toThrow(/--day is Monday: set a day like/);
    await expect(where('--tenant', 'nobody', '--day', DAY)).rejects.toThrow(InvalidDataError);
  });
});
