import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import { recordOfBody } from './journal.ts';

interface Received {
  body: string;
  atMs: number;
  isDone: boolean;
}

/** What was received less long ago is still being worked, unless it was acknowledged. */
const IN_HAND_MS = 60_000;

/** What functions have received, by receipt. */
export class InHand {
  readonly #received = new Map<string, Received>();

  received({ receipt, body }: Delivery, atMs: number): void {
    this.#received.set(receipt, { body, atMs, isDone: false });
  }

  /** What was received under a receipt that is given back now. */
  done(receipt: string): Readonly<Received> | undefined {
    const received = this.#received.get(receipt);
    if (received !== undefined) received.isDone = true;
    return received;
  }

  /** Copies of a record that are being worked. */
  copiesOf(record: string, nowMs: number): number {
    return [...this.#received.values()].filter(
      ({ atMs, body, isDone }) => !isDone && atMs > nowMs - IN_HAND_MS && recordOfBody(body)?.record === record,
    ).length;
  }
}
