import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Emulator } from '../emulators/emulator.ts';

/** An answer whose body is in memory, as bytes or as text. */
export interface BufferedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | string;
}

/** Where requests whose body is in memory are sent. */
export interface BufferedUpstream {
  send(method: string, path: string, headers: OutgoingHttpHeaders, body: Buffer | string): Promise<BufferedAnswer>;
}

/** An emulator in a thread of this process, reached without a socket. */
export class ThreadUpstream implements BufferedUpstream {
  readonly #emulator: Emulator;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  async send(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    body: Buffer | string,
  ): Promise<BufferedAnswer> {
    return this.#emulator.command('request', { method, path, headers: textHeaders(headers), body: body.toString() });
  }
}

const textHeaders = (headers: OutgoingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
