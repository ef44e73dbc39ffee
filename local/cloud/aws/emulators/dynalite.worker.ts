import { EventEmitter } from 'node:events';
import dynalite from 'dynalite';
import { serveCommands, type ThreadAnswer, type ThreadRequest } from './protocol.ts';

// The account and region in table ARNs come from the environment that the main thread gives to this thread.
const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });

/** The part of a request that the emulator uses. */
class Incoming extends EventEmitter {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ method, path, headers }: ThreadRequest) {
    super();
    this.method = method;
    this.url = path;
    this.headers = headers;
  }
}

/** The part of a response that the emulator uses. */
class Outgoing {
  statusCode = 200;
  readonly #headers: Record<string, string> = {};
  readonly #answer: (answer: ThreadAnswer) => void;

  constructor(answer: (answer: ThreadAnswer) => void) {
    this.#answer = answer;
  }

  setHeader(name: string, value: string | number): void {
    this.#headers[name.toLowerCase()] = String(value);
  }

  end(body = ''): void {
    this.#answer({ status: this.statusCode, headers: this.#headers, body });
  }
}

/** Hands a request to the emulator's own listener, as if it had come over a socket. */
async function serve(request: ThreadRequest): Promise<ThreadAnswer> {
  return new Promise((answer) => {
    const incoming = new Incoming(request);
    server.emit('request', incoming, new Outgoing(answer));
    incoming.emit('data', request.body);
    incoming.emit('end');
  });
}

// It listens nowhere: requests come from the front, which is in this process.
serveCommands(0, { request: serve });
