import { parentPort } from 'node:worker_threads';
import type { QueueDepth } from '../../contract.ts';

/** What the main thread asks of an emulator's thread beside the AWS protocols that it serves over HTTP. */
export interface EmulatorCommands {
  createQueue: {
    input: { name: string; url: string; arn: string; attributes: Record<string, string> };
    output: void;
  };
  createTopic: { input: { name: string; arn: string; attributes: Record<string, string> }; output: void };
  subscribe: {
    input: { topicArn: string; protocol: string; endpoint: string; attributes: Record<string, string> };
    output: void;
  };
  createBucket: { input: { name: string }; output: void };
  queueDepth: { input: { name: string }; output: QueueDepth | undefined };
  /** A request that would otherwise come over HTTP: between threads of one process that costs several times as much. */
  request: { input: ThreadRequest; output: Promise<ThreadAnswer> };
}

export interface ThreadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ThreadAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type CommandName = keyof EmulatorCommands;

export interface CommandMessage<N extends CommandName = CommandName> {
  readonly id: number;
  readonly name: N;
  readonly input: EmulatorCommands[N]['input'];
}

export type EmulatorMessage =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'done'; readonly id: number; readonly output: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };

type Handlers = { [N in CommandName]?: (input: EmulatorCommands[N]['input']) => EmulatorCommands[N]['output'] };

/** Called in an emulator's thread once it listens: announces its port and answers commands. */
export function serveCommands(port: number, handlers: Handlers): void {
  const send = (message: EmulatorMessage): void => parentPort?.postMessage(message);
  const serve = async <N extends CommandName>(command: CommandMessage<N>): Promise<void> => {
    try {
      const handler = handlers[command.name];
      if (handler === undefined) throw new Error(`This emulator has no command ${command.name}.`);
      send({ kind: 'done', id: command.id, output: await handler(command.input) });
    } catch (error) {
      send({ kind: 'failed', id: command.id, message: error instanceof Error ? error.message : String(error) });
    }
  };
  parentPort?.on('message', (command: CommandMessage) => void serve(command));
  send({ kind: 'ready', port });
}
