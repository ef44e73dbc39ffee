import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** One event of a log. */
export interface LogLine {
  readonly atMs: number;
  /** Name of the function, or of the log group where it is not a function's. */
  readonly source: string;
  readonly logStream: string;
  /** Undefined for what is written while an environment starts. */
  readonly requestId: string | undefined;
  readonly text: string;
}

export interface LogStoreOptions {
  /** Lines kept in memory for each source; older ones are dropped. */
  readonly linesPerSource?: number;
  /** Also append every line to `<directory>/<source>.log`. */
  readonly directory?: string;
}

/** All logs: the newest lines in memory, and every line to whoever observes. */
export class LogStore {
  readonly #lines = new Map<string, LogLine[]>();
  readonly #files = new Map<string, WriteStream>();
  readonly #observers = new Set<(line: LogLine) => void>();
  readonly #limit: number;
  readonly #directory: string | undefined;

  constructor({ linesPerSource = 20_000, directory }: LogStoreOptions = {}) {
    this.#limit = linesPerSource;
    this.#directory = directory;
    if (directory !== undefined) mkdirSync(directory, { recursive: true });
  }

  append(line: LogLine): void {
    let lines = this.#lines.get(line.source);
    if (lines === undefined) this.#lines.set(line.source, (lines = []));
    lines.push(line);
    if (lines.length > this.#limit * 1.5) lines.splice(0, lines.length - this.#limit);
    this.#file(line.source)?.write(`${line.text}\n`);
    for (const observer of this.#observers) observer(line);
  }

  /** The lines in memory, oldest first; of one source, or of all. */
  lines(source?: string): LogLine[] {
    if (source !== undefined) return [...(this.#lines.get(source) ?? [])];
    return [...this.#lines.values()].flat().sort((a, b) => a.atMs - b.atMs);
  }

  /** Call the returned function to stop observing. */
  observe(observer: (line: LogLine) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => new Promise<void>((done) => file.end(() => done()))));
  }

  #file(source: string): WriteStream | undefined {
    if (this.#directory === undefined) return undefined;
    let file = this.#files.get(source);
    if (file === undefined) {
      file = createWriteStream(join(this.#directory, `${source.replaceAll('/', '_')}.log`), { flags: 'a' });
      this.#files.set(source, file);
    }
    return file;
  }
}

/** Cuts output into lines; what has no end yet waits for it. */
export class LineSplitter {
  #rest = '';

  push(text: string): string[] {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    return parts.filter((line) => line !== '');
  }

  /** What is left without an end of line. */
  flush(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}
