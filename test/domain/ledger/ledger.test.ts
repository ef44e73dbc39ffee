import { describe, expect, it } from '@jest/globals';
import { isFull, tally } from '../../../lambdas/domain/ledger/ledger.ts';
import { makeLedgerChunk, makeProcessing } from '../../support/factories.ts';

describe('offsets beyond the end of the file', () => {
  it('fill no chunk: a record without an outcome stays open', () => {
    const chunk = makeLedgerChunk({ size: 2, succeeded: new Set([0, 7]) });
    expect(isFull(chunk)).toBe(false);
    expect(isFull({ ...chunk, succeeded: new Set([0, 1, 7]) })).toBe(true);
  });

  it('are not counted once the file has been read: counts add up to the total', () => {
    const ledger = [
      makeLedgerChunk({ succeeded: new Set([0, 1, 2]), failed: new Map([['invalid_record', new Set([3])]]) }),
      makeLedgerChunk({ chunk: 4, succeeded: new Set([17]) }),
    ];
    const { counts, failures } = tally(makeProcessing(2), ledger);
    expect(counts).toEqual({ total: 2, pending: 0, succeeded: 2, failed: 0, cancelled: 0 });
    expect(failures).toEqual({});
  });
});
