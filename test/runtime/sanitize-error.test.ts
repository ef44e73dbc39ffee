import { describe, expect, it } from '@jest/globals';
import { InvalidDataError } from '../../lambdas/domain/errors.ts';
import { eventHandler } from '../../lambdas/runtime/event.ts';
import { framesOf, sanitizeError } from '../../lambdas/runtime/sanitize-error.ts';
import { createMemoryTelemetry } from '../support/memory/telemetry.ts';

/** An error as a parser makes it: its words are what it could not read, here dressed up as places of a stack. */
const quoting = (): Error =>
  new SyntaxError('Unexpected "MARKER\n    at MARKER (MARKER:1:1)\n    at MARKER:2:2" in JSON');

describe('an error that leaves a function', () => {
  it('keeps its words when they are ours', () => {
    const error = new InvalidDataError('The limit must be a number.');
    expect(sanitizeError(error)).toBe(error);
  });

  it.each([
    ['an error', quoting()],
    ['a text', 'MARKER'],
    ['an object', { MARKER: 'MARKER' }],
  ])('says nothing of the words of %s that is not ours, and tells its kind', (_what, thrown) => {
    const { name, message, stack, cause } = sanitizeError(thrown);
    expect([name, message, stack, String(cause)].join('\n')).not.toContain('MARKER');
    expect(message).toMatch(/^An unexpected (?:SyntaxError|string|object) ended the invocation\.$/);
  });

  it('tells the place where it happened, which its words cannot invent', () => {
    expect(framesOf(quoting())[0]).toMatch(/^at quoting .*sanitize-error\.test\.ts:\d+:\d+/);
    expect(sanitizeError(quoting()).stack).toMatch(/\n {4}at quoting .*sanitize-error\.test\.ts/);
    expect(framesOf(quoting()).join('\n')).not.toContain('MARKER');
  });

  it('leaves a function that a schedule calls without its words', async () => {
    const handler = eventHandler({
      work: async () => {
        throw quoting();
      },
      telemetry: { ...createMemoryTelemetry(), begin: () => undefined, flush: () => undefined },
    });
    const thrown = await handler({}, { awsRequestId: 'r', getRemainingTimeInMillis: () => 1 }).catch(
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(Error);
    expect(`${String(thrown)}\n${(thrown as Error).stack ?? ''}`).not.toContain('MARKER');
  });
});
