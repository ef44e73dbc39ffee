import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { decodeCursor, encodeCursor } from '../../../lambdas/adapters/dynamodb/cursor.ts';
import { InvalidCursorError } from '../../../lambdas/domain/errors.ts';

const schema = v.tuple([v.number(), v.string()]);
const cursor = encodeCursor('tenant acme', [17, 'sub_1']);

describe('cursors', () => {
  test('come back as the position they were made of, and fit into a URL', () => {
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(decodeCursor('tenant acme', schema, cursor)).toEqual([17, 'sub_1']);
  });

  const forged = Buffer.from(`0000000000000000${JSON.stringify([17, 'sub_2'])}`).toString('base64url');
  test.each([
    ['of another tenant', encodeCursor('tenant other', [17, 'sub_1'])],
    ['of another list', encodeCursor('tenant acme', ['open#1', null])],
    ['with a changed position', forged],
    ['that was cut off', cursor.slice(0, -3)],
    ['that is empty', ''],
    ['that is no base64', '%%%'],
  ])('one %s is refused', (_what, given) => {
    expect(() => decodeCursor('tenant acme', schema, given)).toThrow(InvalidCursorError);
  });
});
