import { format } from 'node:util';

/** Standard output of an environment: everything goes to one stream, and is counted. */
export interface Output {
  writtenBytes(): number;
  write(text: string): void;
}

/**
 * Sends standard error to standard output, so that lines keep their order, and counts bytes. Pipes are written
 * synchronously, so nothing is lost when the process is killed the next moment.
 */
export function captureOutput(): Output {
  let bytes = 0;
  const write = process.stdout.write.bind(process.stdout);
  const counted = (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
    const data =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? asEncoding(encoding) : 'utf8')
        : chunk;
    bytes += data.byteLength;
    const done = typeof encoding === 'function' ? encoding : callback;
    return write(data, () => {
      if (typeof done === 'function') Reflect.apply(done, undefined, []);
    });
  };
  process.stdout.write = counted;
  process.stderr.write = counted;
  return { writtenBytes: () => bytes, write: (text) => void counted(text) };
}

const asEncoding = (name: string): BufferEncoding => (Buffer.isEncoding(name) ? name : 'utf8');

const LEVELS = { trace: 'TRACE', debug: 'DEBUG', log: 'INFO', info: 'INFO', warn: 'WARN', error: 'ERROR' } as const;

/** Gives `console` the two log formats of the managed runtime; libraries with a console of their own are not affected. */
export function replaceConsole(output: Output, logFormat: string, requestId: () => string | undefined): void {
  for (const method of ['trace', 'debug', 'log', 'info', 'warn', 'error'] as const) {
    console[method] = (...parts: unknown[]) => {
      const timestamp = new Date().toISOString();
      const level = LEVELS[method];
      if (logFormat === 'JSON') {
        const message = parts.length === 1 && typeof parts[0] === 'object' ? parts[0] : format(...parts);
        output.write(`${JSON.stringify({ timestamp, level, requestId: requestId(), message })}\n`);
        return;
      }
      // One event is one line: the managed runtime keeps the breaks inside as carriage returns.
      const text = format(...parts).replaceAll('\n', '\r');
      output.write(`${timestamp}\t${requestId() ?? 'undefined'}\t${level}\t${text}\n`);
    };
  }
}
