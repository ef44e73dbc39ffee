import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { failedLine, succeededLine } from '../../../lambdas/domain/finalize/outcome-lines.ts';
import { makeRow } from '../../support/factories.ts';

const fields = { record_id: 'r1', note: 'a\u2028b\u2029c\u0085d\ne' };
const input = { kind: 'record', recordNo: 1, line: 2, byteOffset: 0, endByteOffset: 9, endLine: 3, fields } as const;

describe.each([
  ['succeeded', succeededLine(input, makeRow({ state: 'succeeded' }))],
  ['failed', failedLine(input, makeRow({ state: 'failed', reason: 'invalid_record' }))],
])('the line of a %s record', (_, line) => {
  it('is one line to every reader of lines, with the values as they were sent', async () => {
    const lines = [];
    for await (const each of createInterface({ input: Readable.from([line]) })) lines.push(each);
    expect(lines).toHaveLength(1);
    expect(line.trimEnd().split(/[\n\r\v\f\u0085\u2028\u2029]/)).toHaveLength(1);
    expect(JSON.parse(line)).toMatchObject({ recordNo: 1, line: 2, record: fields });
  });
});

it('says which answers were bought for an earlier record, and how old they were', () => {
  const row = makeRow({
    state: 'succeeded',
    answers: { geo: { kind: 'found', data: { place: 'Berlin' } }, company: { kind: 'not_found', ageSeconds: 90 } },
  });
  const line: unknown = JSON.parse(succeededLine(input, row));
  expect(line).toMatchObject({
    match: { company: 'not_found', geo: 'found' },
    reused: { company: { from: 'cache', ageSeconds: 90 } },
  });
  expect(line).not.toHaveProperty(['reused', 'geo']);
});
