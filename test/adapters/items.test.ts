import { describe, expect, test } from '@jest/globals';
import { ledgerKey, parseLedger } from '../../lambdas/adapters/dynamodb/ledger-item.ts';
import { headItem, openShardOf, OPEN_SHARD_KEYS, parseHead } from '../../lambdas/adapters/dynamodb/submission-item.ts';
import { InvalidDataError } from '../../lambdas/domain/errors.ts';
import { EXPIRES_AT_SECONDS, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';

describe('the head item', () => {
  test('is in the index of open submissions only while it is open', () => {
    expect(headItem(makeSubmission(), 'token')).toMatchObject({ openShard: openShardOf(SUBMISSION_ID) });
    expect(headItem(makeSubmission({ state: 'complete' }), 'token')).not.toHaveProperty('openShard');
  });

  test('has no empty set, which DynamoDB refuses', () => {
    expect(headItem(makeSubmission(), 'token')).not.toHaveProperty('closedChunks');
  });

  test('is spread over every shard', () => {
    const ids = Array.from({ length: 400 }, (_, index) => `sub_01KE9Q5XW0${(index * 7919).toString(36).toUpperCase()}`);

    const perShard = Map.groupBy(ids, openShardOf);

    expect([...perShard.keys()].toSorted()).toEqual(OPEN_SHARD_KEYS);
    for (const shard of perShard.values()) expect(shard.length).toBeGreaterThan(50);
  });

  const valid = headItem(makeSubmission(), 'token');
  test.each([
    ['a state that is no code', { ...valid, state: 'Fast asleep' }],
    ['no source', { ...valid, source: undefined }],
    ['a source without an ETag', { ...valid, source: { key: 'k', sizeBytes: 1 } }],
    ['a text for a number', { ...valid, generation: '1' }],
    ['chunks that are no set', { ...valid, closedChunks: [1, 2] }],
  ])('with %s is refused, and the error names the item', (_what, item) => {
    expect(() => parseHead(item)).toThrow(InvalidDataError);
    expect(() => parseHead(item)).toThrow(new RegExp(SUBMISSION_ID));
  });

  test('an error about it quotes no value', () => {
    expect(() => parseHead({ ...valid, callbackUrl: { secret: 'hunter2' } })).toThrow(/^(?!.*hunter2)/s);
  });
});

describe('a ledger item', () => {
  const valid = { ...ledgerKey(SUBMISSION_ID, 7), expiresAtSeconds: EXPIRES_AT_SECONDS };

  test('sorts by chunk under its key', () => {
    const parts = [12, 7, 300].map((chunk) => String(ledgerKey('s', chunk)['part']));
    expect(parts.toSorted()).toEqual(['ledger#00007', 'ledger#00012', 'ledger#00300']);
    expect(parseLedger(valid).chunk.chunk).toBe(7);
  });

  test.each([
    ['a reason that is no code', { ...valid, 'f_Bad-luck': new Set([1]) }],
    ['offsets that are no numbers', { ...valid, s: new Set(['1']) }],
    ['failures that are no set', { ...valid, f_invalid_record: 3 }],
    ['no chunk', { ...valid, part: 'ledger#x' }],
  ])('with %s is refused', (_what, item) => {
    expect(() => parseLedger(item)).toThrow(InvalidDataError);
  });
});
