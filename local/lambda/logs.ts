import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** One event of a function's log. */
export interface LogLine {
  readonly atMs: number;
  readonly functionName: string;
  readonly logStream: string;
  /** Undefined for what is written while an environment starts. */
  readonly requestId: string | undefined;
  readonly text: string;
}

export interface LogStoreOptions {
  /** Lines kept in memory for each function; older ones are dropped. */
  readonly linesPerFunction?: number;
  /** Also append every line to `<directory>/<function>.log`. */
  readonly directory?: string;
}

/** The logs of all functions: the newest lines in memory, and every line to whoever observes. */
export class LogStore {
  readonly #lines = new Map<string, LogLine[]>();
  readonly #files = new Map<string, WriteStream>();
  readonly #observers = new Set<(line: LogLine) => void>();
  readonly #limit: number;
  readonly #directory: string | undefined;

  constructor({ linesPerFunction = 20_000, directory }: LogStoreOptions = {}) {
    this.#limit = linesPerFunction;
    this.#directory = directory;
    if (directory !== undefined) mkdirSync(directory, { recursive: true });
  }

  append(line: LogLine): void {
    let lines = this.#lines.get(line.functionName);
    if (lines === undefined) this.#lines.set(line.functionName, (lines = []));
    lines.push(line);
    if (lines.length > this.#limit * 1.5) lines.splice(0, lines.length - this.#limit);
    this.#file(line.functionName)?.write(`${line.text}\n`);
    for (const observer of this.#observers) observer(line);
  }

  /** The lines in memory, oldest first; of one function, or of all. */
  lines(functionName?: string): LogLine[] {
    if (functionName !== undefined) return [...(this.#lines.get(functionName) ?? [])];
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

  #file(functionName: string): WriteStream | undefined {
    if (this.#directory === undefined) return undefined;
    let file = this.#files.get(functionName);
    if (file === undefined) {
      file = createWriteStream(join(this.#directory, `${functionName}.log`), { flags: 'a' });
      this.#files.set(functionName, file);
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
