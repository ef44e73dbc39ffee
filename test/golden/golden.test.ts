import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { PutItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { createAdmissionStore } from '../../lambdas/adapters/dynamodb/admission-store.ts';
import { createApiKeyStore } from '../../lambdas/adapters/dynamodb/api-keys.ts';
import { parseLedger } from '../../lambdas/adapters/dynamodb/ledger-item.ts';
import { createLedgerStore } from '../../lambdas/adapters/dynamodb/ledger-store.ts';
import { parseRecord, recordItem } from '../../lambdas/adapters/dynamodb/record-item.ts';
import { createRecordStore } from '../../lambdas/adapters/dynamodb/record-store.ts';
import { parseHead } from '../../lambdas/adapters/dynamodb/submission-item.ts';
import { recordView, submissionView } from '../../lambdas/domain/api/views.ts';
import { readManifest, readPartManifest } from '../../lambdas/domain/finalize/manifest.ts';
import { tally } from '../../lambdas/domain/ledger/ledger.ts';
import {
  encodeBody,
  parseFanOutMessage,
  parseFinalizeMessage,
  parseRecordMessage,
} from '../../lambdas/domain/queues/messages.ts';
import { isReasonCode, reasonOf, type ReasonCode } from '../../lambdas/domain/reasons.ts';
import { whyNot } from '../../lambdas/domain/redrive/select.ts';
import { TERMS_OF_0_1_0 } from '../../lambdas/domain/submissions/terms.ts';
import { UnsupportedVersionError } from '../../lambdas/domain/versions.ts';
import { startTables, type TestTables } from '../contracts/tables.ts';
import { makeRow, SUBMISSION_ID, TENANT_ID } from '../support/factories.ts';
import { createMemoryObjects } from '../support/memory/objects.ts';
import { createTestClock, noHook, START_MS } from '../support/memory/index.ts';

/*
 * What each released version has stored and sent must stay readable: add a file for every release, change none. future.json is what a later
 * version may store: more members, more codes, and what has a newer major version.
 */

type Items = Record<string, Record<string, AttributeValue>>;
interface Golden {
  items: Record<'heads' | 'ledger' | 'rows', Items> & Record<'openWork' | 'backlog' | 'apiKey', Items[string]>;
  messages: { record: Record<string, object>; fanOut: object; finalize: Record<string, object> };
  objects: Record<string, object>;
}

const decode = (key: string, value: unknown): unknown =>
  key === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value;
const golden = (name: string): Golden =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8'), decode) as Golden;
const of = (items: Items, name: string): Record<string, unknown> => unmarshall(items[name] ?? {});

const RELEASED = golden('0.1.0');
const FUTURE = golden('future');

const code = (text: string): ReasonCode => {
  if (!isReasonCode(text)) throw new Error(`${text} is no code.`);
  return text;
};

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const clock = createTestClock();
const put = async (table: string, item: Items[string] | undefined): Promise<void> => {
  await tables.client.send(new PutItemCommand({ TableName: table, Item: item }));
};

describe('what 0.1.0 stored and sent', () => {
  test.each(Object.keys(RELEASED.items.heads))('reads the head of a submission: %s', (name) => {
    const { submission } = parseHead(of(RELEASED.items.heads, name));
    expect(submission).toMatchObject({ submissionId: SUBMISSION_ID, tenantId: TENANT_ID, format: 'csv' });
    expect(submission).not.toHaveProperty('storedState');
    expect(submission.terms).toEqual(TERMS_OF_0_1_0);
  });

  test.each(Object.keys(RELEASED.items.rows))('reads the row of a record, and writes the same: %s', (name) => {
    const item = of(RELEASED.items.rows, name);
    const row = parseRecord(item);
    expect(row).not.toHaveProperty('others');
    expect(recordItem(row)).toEqual(item);
  });

  test('reads a ledger item', () => {
    const { chunk } = parseLedger(of(RELEASED.items.ledger, 'full'));
    expect(chunk).toMatchObject({ chunk: 1, size: 7, start: { byteOffset: 12_345, line: 252 } });
    expect(chunk.failed).toEqual(
      new Map([
        ['invalid_record', new Set([4])],
        ['attempts_exhausted', new Set([5, 6])],
      ]),
    );
  });

  test.each(Object.entries(RELEASED.messages.record))('reads a record message: %s', (_name, message) => {
    expect(parseRecordMessage(encodeBody(message))).toEqual(message);
  });

  test('reads the other messages', () => {
    expect(parseFanOutMessage(encodeBody(RELEASED.messages.fanOut))).toEqual(RELEASED.messages.fanOut);
    for (const message of Object.values(RELEASED.messages.finalize))
      expect(parseFinalizeMessage(encodeBody(message))).toEqual(message);
  });

  test('reads manifests', async () => {
    const { part, manifest } = await manifestsOf(RELEASED);
    expect(part).toEqual(RELEASED.objects['part']);
    expect(manifest).toEqual(RELEASED.objects['manifest']);
  });

  test.each([['0.1.0', RELEASED] as const, ['a later version', FUTURE] as const])(
    'reads what %s knows of tenants',
    async (_version, { items }) => {
      const table = await tables.create('tenants');
      await put(table, items.openWork);
      await put(table, items.backlog);
      await put(table, items.apiKey);
      const admission = createAdmissionStore(tables.client, table, clock);
      expect(await admission.openWork(TENANT_ID)).toEqual([
        { submissionId: SUBMISSION_ID, records: 300, lane: 'small' },
        { submissionId: 'sub_2', records: 7 },
      ]);
      expect(await admission.backlog()).toMatchObject({ openRecords: { small: 7, bulk: 1000 }, openSubmissions: 2 });
      const key = await createApiKeyStore(tables.client, table, clock).find('a'.repeat(64));
      expect(key).toMatchObject({ tenantId: TENANT_ID, scopes: ['submit', 'read'] });
    },
  );
});

async function manifestsOf({ objects: stored }: Golden, name = 'manifest') {
  const objects = createMemoryObjects({ hook: noHook });
  const prefix = `results/${TENANT_ID}/${SUBMISSION_ID}/v1`;
  objects.seed(`${prefix}/part-00001.json`, JSON.stringify(stored['part']));
  objects.seed(`${prefix}/manifest.json`, JSON.stringify(stored[name]));
  const submission = { tenantId: TENANT_ID, submissionId: SUBMISSION_ID, resultsVersion: 1 };
  return {
    part: await readPartManifest(objects, submission, 1, 1),
    manifest: await readManifest(objects, submission),
  };
}

describe('what a later version stored and sent', () => {
  const view = (name: string) => {
    const { submission } = parseHead(of(FUTURE.items.heads, name));
    return submissionView({ submission, tally: tally(submission, []), estimatedCompletionAtMs: undefined }, '');
  };

  test('a state that is not known is shown as it is; what is to be checked counts as open, the rest is left alone', () => {
    expect(view('accepted').state).toBe('preparing');
    expect(parseHead(of(FUTURE.items.heads, 'accepted')).submission.state).toBe('processing');
    expect(view('finished').state).toBe('archived');
    // No replay takes up what is rejected.
    expect(parseHead(of(FUTURE.items.heads, 'finished')).submission.state).toBe('rejected');
  });

  test('a stop order of another kind stops, and members of the dialect are written back by a checkpoint', () => {
    const { submission } = parseHead(of(FUTURE.items.heads, 'processing'));
    expect(submission.stop?.kind).toBe('cancelled');
    expect(submission.fanOut.dialect).toMatchObject({ delimiter: ';', escape: '\\' });
  });

  test.each([
    ['a head of a newer major version', () => parseHead(of(FUTURE.items.heads, 'nextMajor'))],
    ['a head in a format that nobody here reads', () => parseHead(of(FUTURE.items.heads, 'newFormat'))],
    ['a ledger item of a newer major version', () => parseLedger(of(FUTURE.items.ledger, 'nextMajor'))],
    ['a row of a newer major version', () => parseRecord(of(FUTURE.items.rows, 'nextMajor'))],
    ['a message of a newer major version', () => parseRecordMessage(encodeBody(FUTURE.messages.record['nextMajor']))],
    ['content of another kind', () => parseRecordMessage(encodeBody(FUTURE.messages.record['newContent']))],
    ['a task of another kind', () => parseFinalizeMessage(encodeBody(FUTURE.messages.finalize['webhook']))],
  ])('%s is told from garbage', (_what, read) => {
    expect(read).toThrow(UnsupportedVersionError);
    expect(read).toThrow(/newer version/);
  });

  test('a manifest of a newer major version is told from garbage', async () => {
    await expect(manifestsOf(FUTURE, 'nextMajor')).rejects.toThrow(UnsupportedVersionError);
  });

  test('manifests show states, formats and reasons as they are', async () => {
    const { part, manifest } = await manifestsOf(FUTURE);
    expect(part?.failures).toEqual({ invalid_record: 1, duplicate_record: 2 });
    expect(manifest).toMatchObject({ state: 'archived', failures: { duplicate_record: 2 } });
    expect(manifest?.files.map(({ format }) => format)).toEqual(['csv', 'xlsx']);
  });

  test('failures for a reason that is not known count, and can be taken back', async () => {
    const { chunk } = parseLedger(of(FUTURE.items.ledger, 'full'));
    const { submission } = parseHead(of(RELEASED.items.heads, 'finished'));
    expect(tally({ fanOut: { ...submission.fanOut, done: false } }, [chunk]).failures).toEqual({
      invalid_record: 1,
      attempts_exhausted: 2,
      duplicate_record: 2,
    });
    const table = await tables.create('submissions');
    await put(table, FUTURE.items.ledger['full']);
    const ledger = createLedgerStore(tables.client, table, clock);
    const reopened = await ledger.reopen(SUBMISSION_ID, 1, [4, 249]);
    expect(reopened.failed).toEqual(
      new Map([
        ['attempts_exhausted', new Set([5, 6])],
        ['duplicate_record', new Set([248])],
      ]),
    );
  });

  test('a reason that is not known is shown as it is, explained, and replayed by force only', () => {
    const row = parseRecord(of(FUTURE.items.rows, 'failed'));
    const { customer, outage } = reasonOf(code('duplicate_record'));
    expect(recordView(row)).toMatchObject({ state: 'failed', reason: 'duplicate_record' });
    expect(recordView(row).message).toContain(customer);
    expect(outage).toBe(false);
    expect(whyNot(row, { force: false, maxRedrives: 3 })).toBe('not_helpful');
    expect(whyNot(row, { force: true, maxRedrives: 3 })).toBeUndefined();
  });

  test('a row in a state that is not known waits, and is shown as it is', () => {
    const row = parseRecord(of(FUTURE.items.rows, 'waiting'));
    expect(row).toMatchObject({ state: 'deferred', storedState: 'preparing', reason: 'provider_not_ready' });
    expect(recordView(row)).toMatchObject({ state: 'preparing', reason: 'provider_not_ready', waitingOn: 'geo' });
  });

  test('an answer of another kind is shown with its data', () => {
    const row = parseRecord(of(FUTURE.items.rows, 'succeeded'));
    expect(recordView(row).output).toEqual({
      record_id: 'cust-0001',
      company: { name: 'Acme Ltd' },
      geo: { place: 'Berlin' },
    });
  });

  test('a row that is written again keeps what is not known, also where its reader did not see it', async () => {
    const table = await tables.create('records');
    const records = createRecordStore(tables.client, table, clock);
    const item = FUTURE.items.rows['waiting'];
    await put(table, item);
    const [seen] = await records.getMany([{ submissionId: SUBMISSION_ID, recordNo: 251 }]);
    const next = makeRow({ recordNo: 251, generation: 1, state: 'deferred', reason: 'pacer_full' });
    expect(await records.put({ ...next, updatedAtMs: START_MS + 5_000 }, seen)).toMatchObject({ applied: true });
    expect(await records.put({ ...next, updatedAtMs: START_MS + 6_000 })).toMatchObject({ applied: true });
    const [row] = await records.getMany([{ submissionId: SUBMISSION_ID, recordNo: 251 }]);
    expect(row).toMatchObject({ state: 'deferred', others: { nr: 3 }, updatedAtMs: START_MS + 6_000 });
    expect(row).not.toHaveProperty('storedState');
  });

  test('messages keep members that are not known when they are sent again', () => {
    const { first, again, defect } = FUTURE.messages.record;
    expect(JSON.parse(encodeBody(parseRecordMessage(encodeBody(first))))).toMatchObject({ hints: { priority: 1 } });
    expect(parseRecordMessage(encodeBody(again)).answers).toMatchObject({
      geo: { kind: 'unavailable', because: 'optional' },
    });
    expect(parseRecordMessage(encodeBody(defect)).content).toMatchObject({ reason: 'duplicate_record' });
    expect(parseFanOutMessage(encodeBody(FUTURE.messages.fanOut))).toMatchObject({ submissionId: SUBMISSION_ID });
    expect(parseFinalizeMessage(encodeBody(FUTURE.messages.finalize['results']))).toMatchObject({ kind: 'results' });
  });
});
