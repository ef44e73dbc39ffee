import { parseRecordMessage } from '../../lambdas/domain/queues/messages.ts';
import type { Delivery, OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import type { Dice } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** A lane as far as a drain without failures needs one: nearly in order, as SQS hands out a long queue. */
export class Lined {
  readonly #scheduler: Scheduler;
  readonly #disorder: number;
  readonly #dice: Dice;
  readonly #bodies: string[] = [];
  #serial = 0;
  isOver = false;

  constructor(scheduler: Scheduler, disorder: number, dice: Dice) {
    this.#scheduler = scheduler;
    this.#disorder = disorder;
    this.#dice = dice;
  }

  add(body: string): void {
    this.#bodies.push(body);
  }

  async send(messages: readonly OutgoingMessage[]): Promise<[]> {
    for (const { body, delayMs = 0 } of messages) {
      parseRecordMessage(body);
      this.#scheduler.at(this.#scheduler.now() + delayMs, () => this.add(body));
    }
    return [];
  }

  take(max: number): Delivery[] {
    const sentAtMs = this.#scheduler.now();
    return Array.from({ length: Math.min(max, this.#bodies.length) }, () => {
      const [body = ''] = this.#bodies.splice(this.#dice.below(Math.min(this.#disorder, this.#bodies.length)), 1);
      const messageId = `message-${++this.#serial}`;
      return { messageId, receipt: messageId, body, receiveCount: 1, attributes: {}, sentAtMs };
    });
  }
}
