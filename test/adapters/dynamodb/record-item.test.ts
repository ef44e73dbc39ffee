import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { itemBytes } from '../../../lambdas/adapters/dynamodb/item-size.ts';
import { parseRecord, recordItem } from '../../../lambdas/adapters/dynamodb/record-item.ts';
import { InvalidDataError } from '../../../lambdas/domain/errors.ts';
import type { ProviderAnswers } from '../../../lambdas/domain/model.ts';
import { makeRow } from '../../support/factories.ts';

/** As the two default providers answer for a customer. */
const TYPICAL: ProviderAnswers = {
  company: {
    kind: 'found',
    data: {
      legalName: 'Müller & Söhne Maschinenbau GmbH',
      industry: 'Manufacturing of industrial machinery',
      employees: 1250,
      founded: 1987,
      website: 'https://mueller-soehne.example.com',
      vatNumber: 'DE123456789',
      status: 'active',
    },
  },
  geo: {
    kind: 'found',
    data: {
      place: 'Frankfurt am Main',
      region: 'Hessen',
      country: 'Germany',
      latitude: 50.1109221,
      longitude: 8.6821267,
      timeZone: 'Europe/Berlin',
      population: 773_068,
    },
  },
};

const proseAnswer = (characters: number): ProviderAnswers => {
  const sentence = 'The company makes machines and sells them to customers in many countries. ';
  const text = sentence.repeat(Math.ceil(characters / sentence.length)).slice(0, characters);
  return { company: { kind: 'found', data: { text } } };
};

describe('rows as items', () => {
  test('a row with two typical answers costs one write unit and stays readable', () => {
    const item = recordItem(makeRow({ recordNo: 199_999, recordId: 'cust-199999', answers: TYPICAL }));

    expect(itemBytes(item)).toBeLessThanOrEqual(1024);
    expect(JSON.parse(String(item['an']))).toEqual(TYPICAL);
  });

  test('answers that would cost another unit are compressed, and read back', () => {
    const row = makeRow({ answers: proseAnswer(6000) });
    const item = recordItem(row);

    expect(item['an']).toBeInstanceOf(Uint8Array);
    expect(itemBytes(item)).toBeLessThanOrEqual(1024);
    expect(parseRecord(item)).toEqual(row);
  });

  test('answers stay text where compressing them saves no unit', () => {
    const hashes = Array.from({ length: 15 }, (_, index) => index).map((index) =>
      createHash('sha512').update(String(index)).digest('base64'),
    );
    const item = recordItem(makeRow({ answers: { company: { kind: 'found', data: { hashes } } } }));

    expect(itemBytes(item)).toBeGreaterThan(1024);
    expect(typeof item['an']).toBe('string');
  });

  test('no attribute is written for what a row does not have', () => {
    const item = recordItem(makeRow({ answers: {}, redrives: 0 }));

    expect(Object.keys(item).toSorted()).toEqual([
      'at',
      'chunkKey',
      'expiresAtSeconds',
      'fe',
      'gn',
      'recordNo',
      'ri',
      'st',
      'up',
    ]);
  });

  test('the chunk is in the key, so that one file is spread over many partitions', () => {
    expect(recordItem(makeRow({ recordNo: 250 }))).toMatchObject({ chunkKey: `${makeRow().submissionId}#00000` });
    expect(recordItem(makeRow({ recordNo: 251 }))).toMatchObject({ chunkKey: `${makeRow().submissionId}#00001` });
  });

  const valid = recordItem(makeRow());
  test.each([
    ['a state that is no code', { ...valid, st: 'Lost?' }],
    ['a reason that is no code', { ...valid, rs: 'because of that' }],
    ['a key without a chunk', { ...valid, chunkKey: 'sub_1' }],
    ['no generation', { ...valid, gn: undefined }],
    ['answers that are no JSON', { ...valid, an: '{' }],
    ['answers of a kind that is no code', { ...valid, an: '{"geo":{"kind":"May be"}}' }],
    ['an answer without its data', { ...valid, an: '{"geo":{"kind":"found"}}' }],
    ['answers that were never compressed', { ...valid, an: Buffer.from('plain') }],
  ])('an item with %s is refused by name', (_what, item) => {
    expect(() => parseRecord(item)).toThrow(InvalidDataError);
    expect(() => parseRecord(item)).toThrow(/row|answers/i);
  });
});
