import { Worker } from 'node:worker_threads';
import { LocalCloudError } from '../../errors.ts';
import type { CommandName, EmulatorCommands, EmulatorMessage } from './protocol.ts';

/** What runs in the threads. */
const WORKERS = {
  fauxqs: new URL('./fauxqs.worker.ts', import.meta.url),
  dynalite: new URL('./dynalite.worker.ts', import.meta.url),
} as const;

interface Pending {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * An emulator in a thread of its own, so that its work and the front's do not wait for each other. It listens on a free
 * port of 127.0.0.1; only the front talks to it.
 */
export class Emulator {
  readonly port: number;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;

  private constructor(worker: Worker, port: number, onFailure: (error: Error) => void) {
    this.#worker = worker;
    this.port = port;
    worker.on('message', (message: EmulatorMessage) => this.#settle(message));
    worker.on('error', (thrown: unknown) => {
      const error = thrown instanceof Error ? thrown : new LocalCloudError(String(thrown));
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      onFailure(error);
    });
  }

  /**
   * @param onFailure called when the emulator dies by itself later on
   */
  static async start(
    name: keyof typeof WORKERS,
    environment: Record<string, string>,
    onFailure: (error: Error) => void,
  ): Promise<Emulator> {
    const worker = new Worker(WORKERS[name], {
      env: { ...process.env, ...environment },
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    const port = await new Promise<number>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', (message: EmulatorMessage) => {
        worker.off('error', reject);
        if (message.kind === 'ready') resolve(message.port);
        else reject(new LocalCloudError(`The ${name} emulator said ${message.kind} before it was ready.`));
      });
    });
    return new Emulator(worker, port, onFailure);
  }

  command<N extends CommandName>(
    name: N,
    input: EmulatorCommands[N]['input'],
  ): Promise<Awaited<EmulatorCommands[N]['output']>> {
    const id = (this.#nextId += 1);
    return new Promise((resolve, reject) => {
      // The answer's type is the handler's in the thread, which `serveCommands` checks.
      this.#pending.set(id, { resolve: (output) => resolve(output as Awaited<EmulatorCommands[N]['output']>), reject });
      this.#worker.postMessage({ id, name, input });
    });
  }

  async stop(): Promise<void> {
    this.#worker.removeAllListeners();
    await this.#worker.terminate();
    for (const { reject } of this.#pending.values()) reject(new LocalCloudError('The emulator was stopped.'));
    this.#pending.clear();
  }

  #settle(message: EmulatorMessage): void {
    if (message.kind === 'ready') return;
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'done') pending?.resolve(message.output);
    else pending?.reject(new LocalCloudError(message.message));
  }
}
