/*
 * An execution environment: imports one handler and runs it, one invocation at a time, for the process that forked it.
 * Bundled into one JavaScript file before the first start, because stripping types in every start costs a tenth of a second.
 */
import { describeError, loadHandler, type Handler } from './load.ts';
import { captureOutput, replaceConsole } from './output.ts';
import type { ChildMessage, InvokeMessage } from './protocol.ts';

type Message = ChildMessage extends infer M
  ? M extends { writtenBytes: number }
    ? Omit<M, 'writtenBytes'>
    : never
  : never;

const environment = process.env;
const output = captureOutput();
let current: InvokeMessage | undefined;
replaceConsole(output, environment['AWS_LAMBDA_LOG_FORMAT'] ?? 'Text', () => current?.requestId);

function tell(message: Message, then?: () => void): void {
  process.send?.({ ...message, writtenBytes: output.writtenBytes() }, undefined, {}, () => then?.());
}

/** Peak resident memory of this process. */
const residentBytes = (): number => process.resourceUsage().maxRSS * 1024;

function contextOf(message: InvokeMessage): object {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: environment['AWS_LAMBDA_FUNCTION_NAME'],
    functionVersion: environment['AWS_LAMBDA_FUNCTION_VERSION'],
    memoryLimitInMB: environment['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'],
    logGroupName: environment['AWS_LAMBDA_LOG_GROUP_NAME'],
    logStreamName: environment['AWS_LAMBDA_LOG_STREAM_NAME'],
    invokedFunctionArn: message.functionArn,
    awsRequestId: message.requestId,
    getRemainingTimeInMillis: () => Math.max(0, message.deadlineMs - Date.now()),
  };
}

async function invoke(handler: Handler, message: InvokeMessage): Promise<void> {
  current = message;
  try {
    const event: unknown = JSON.parse(message.payload);
    const answer = JSON.stringify(await handler(event, contextOf(message))) ?? 'null';
    tell({ type: 'succeeded', payload: answer, residentBytes: residentBytes() });
  } catch (thrown) {
    const error = describeError(thrown);
    console.error('Invoke Error', JSON.stringify({ ...error, stack: error.trace }));
    tell({ type: 'failed', error, residentBytes: residentBytes(), fatal: false });
  } finally {
    current = undefined;
  }
}

/** What nobody caught ends the environment, whatever it was doing. */
function die(kind: 'Runtime.UnhandledPromiseRejection' | undefined, thrown: unknown): void {
  const described = describeError(thrown);
  const error = kind === undefined ? described : { ...described, errorType: kind };
  console.error(kind === undefined ? 'Uncaught Exception' : 'Unhandled Promise Rejection', JSON.stringify(error));
  tell({ type: 'failed', error, residentBytes: residentBytes(), fatal: true }, () => process.exit(129));
}

process.on('uncaughtException', (error) => die(undefined, error));
process.on('unhandledRejection', (reason) => die('Runtime.UnhandledPromiseRejection', reason));
process.on('disconnect', () => process.exit());
// Ctrl-C reaches every process of the terminal; the owner decides when this one ends.
process.on('SIGINT', () => undefined);

try {
  const handler = await loadHandler(environment['LAMBDA_TASK_ROOT'] ?? '', environment['_HANDLER'] ?? '');
  process.on('message', (message: InvokeMessage) => void invoke(handler, message));
  tell({ type: 'ready' });
} catch (thrown) {
  const error = describeError(thrown);
  console.error('Uncaught Exception', JSON.stringify(error));
  tell({ type: 'init_failed', error }, () => process.exit(1));
}
