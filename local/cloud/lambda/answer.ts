import type { InvokeRequest, InvokeResult } from '../contract.ts';
import type { Run } from './pool.ts';
import type { FunctionSpec } from './spec.ts';

/** Most bytes of a synchronous request or answer, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
export const MAX_SYNCHRONOUS_BYTES = 6 * 1024 * 1024;
/** Most bytes of an asynchronous request; same source. */
export const MAX_ASYNCHRONOUS_BYTES = 1024 * 1024;
const LOG_TAIL_BYTES = 4096;

/** What `Invoke` answers for an invocation that was run. */
export function answerOf(
  run: Run,
  spec: FunctionSpec,
  requestId: string,
  logType: InvokeRequest['logType'],
): InvokeResult {
  const tail = logType === 'Tail' ? { logResult: logTail(run.lines) } : {};
  const error = errorOf(run, spec, requestId);
  if (error === undefined && run.ending.kind === 'succeeded') {
    return { statusCode: 200, payload: run.ending.payload, ...tail };
  }
  return { statusCode: 200, payload: JSON.stringify(error), functionError: 'Unhandled', ...tail };
}

function errorOf({ ending }: Run, spec: FunctionSpec, requestId: string): object | undefined {
  if (ending.kind === 'failed') return ending.error;
  if (ending.kind === 'timed_out') {
    const seconds = (spec.timeoutMs / 1000).toFixed(2);
    return failure('Sandbox.Timedout', `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`);
  }
  if (ending.kind === 'exited') {
    return failure('Runtime.ExitError', `RequestId: ${requestId} Error: Runtime exited with error: ${ending.reason}`);
  }
  const bytes = Buffer.byteLength(ending.payload);
  if (bytes <= MAX_SYNCHRONOUS_BYTES) return undefined;
  const message = `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${MAX_SYNCHRONOUS_BYTES} bytes).`;
  return failure('Function.ResponseSizeTooLarge', message);
}

const failure = (errorType: string, errorMessage: string): object => ({ errorType, errorMessage });

function logTail(lines: readonly string[]): string {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
    .subarray(-LOG_TAIL_BYTES)
    .toString('base64');
}

/** The answer to a request that was refused before it reached the function. */
export const refusal = (statusCode: 413 | 429, type: string, message: string): InvokeResult => ({
  statusCode,
  payload: JSON.stringify({ __type: type, Type: 'User', message, Message: message }),
});
