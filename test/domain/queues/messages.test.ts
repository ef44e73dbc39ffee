import { encodeBody, firstMessageEncoder, parseRecordMessage } from '../../../lambdas/domain/queues/messages.ts';
import { makeRecordMessage } from '../../support/factories.ts';

describe('a message body', () => {
  it.each(['plain', 'naïve – “quoted”', '\u007f and \uffff', '𝄞 in two halves', 'lone \ud800 half', '"\\\n'])(
    'is ASCII and says the same as before: %j',
    (text) => {
      const body = encodeBody({ text });
      expect(body).toMatch(/^[\u0020-\u007e]*$/);
      expect(JSON.parse(body)).toEqual({ text });
    },
  );
});

describe('the first messages of a submission', () => {
  it.each([
    { kind: 'record' as const, fields: { record_id: 'r1', name: 'Zoë "Z"' } },
    { kind: 'defect' as const, reason: 'malformed_row' as const, defect: 'COLUMN_COUNT', detail: 'Line 7 – too long.' },
  ])('say what whole messages say: $kind', (content) => {
    const whole = makeRecordMessage({ recordNo: 7, line: 9, content, tenantId: 'acme' });
    const { recordNo, line, content: _content, firstEnqueuedAtMs, ...common } = whole;
    const body = firstMessageEncoder(common)({ recordNo, line, content, firstEnqueuedAtMs });
    expect(body).toHaveLength(encodeBody(whole).length);
    expect(parseRecordMessage(body)).toEqual(whole);
  });
});
