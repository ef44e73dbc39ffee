/** The part of an emulated message that fairness looks at. */
export interface GroupedMessage {
  messageGroupId?: string | undefined;
}

/** A group with at least so many messages in flight, and with more than its share, is held back. */
const NOISY_IN_FLIGHT = 30;
const NOISY_SHARE = 0.1;

interface Waiting<M> {
  readonly order: number;
  readonly message: M;
}

/** First in, first out; taking from the front does not move the rest. */
class Lane<M> {
  #items: Waiting<M>[] = [];
  #start = 0;

  get first(): Waiting<M> | undefined {
    return this.#items[this.#start];
  }

  push(item: Waiting<M>): void {
    this.#items.push(item);
  }

  shift(): Waiting<M> | undefined {
    const item = this.#items[this.#start];
    if (item === undefined) return undefined;
    this.#start += 1;
    if (this.#start > 1_000 && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return item;
  }

  values(): Waiting<M>[] {
    return this.#items.slice(this.#start);
  }
}

/**
 * The visible messages of a queue, handed out like a fair queue of SQS does: a message group that keeps many messages in
 * flight waits while other groups have messages. Within a group, and among the quiet groups, the oldest goes first.
 *
 * It stands in for the array in which the emulator keeps visible messages, so it has the few members used there.
 */
export class FairBacklog<M extends GroupedMessage> {
  readonly #lanes = new Map<string, Lane<M>>();
  readonly #inFlight: InFlightByGroup;
  #order = 0;
  #length = 0;

  constructor(inFlight: InFlightByGroup) {
    this.#inFlight = inFlight;
  }

  get length(): number {
    return this.#length;
  }

  push(message: M): number {
    const group = message.messageGroupId ?? '';
    let lane = this.#lanes.get(group);
    if (lane === undefined) this.#lanes.set(group, (lane = new Lane()));
    lane.push({ order: (this.#order += 1), message });
    return (this.#length += 1);
  }

  shift(): M | undefined {
    const group = this.#nextGroup();
    const lane = group === undefined ? undefined : this.#lanes.get(group);
    const item = lane?.shift();
    if (group === undefined || lane === undefined || item === undefined) return undefined;
    if (lane.first === undefined) this.#lanes.delete(group);
    this.#length -= 1;
    return item.message;
  }

  [Symbol.iterator](): Iterator<M> {
    const waiting = [...this.#lanes.values()].flatMap((lane) => lane.values());
    return waiting
      .sort((a, b) => a.order - b.order)
      .map(({ message }) => message)
      .values();
  }

  #nextGroup(): string | undefined {
    let chosen: { group: string; order: number; noisy: boolean } | undefined;
    for (const [group, lane] of this.#lanes) {
      const order = lane.first?.order ?? Infinity;
      const noisy = this.#lanes.size > 1 && this.#inFlight.isNoisy(group);
      const before = chosen === undefined || (noisy === chosen.noisy ? order < chosen.order : chosen.noisy);
      if (before) chosen = { group, order, noisy };
    }
    return chosen?.group;
  }
}

/** A queue's messages in flight by receipt handle, counting them by group on the way. */
export class InFlightByGroup extends Map<string, { message: GroupedMessage }> {
  // Assigned by the base class's constructor before fields of this class exist, when it is given entries; it never is.
  readonly #counts = new Map<string, number>();

  isNoisy(group: string): boolean {
    const count = group === '' ? 0 : (this.#counts.get(group) ?? 0);
    return count >= NOISY_IN_FLIGHT && count > this.size * NOISY_SHARE;
  }

  override set(receiptHandle: string, entry: { message: GroupedMessage }): this {
    if (!this.has(receiptHandle)) this.#count(entry, 1);
    return super.set(receiptHandle, entry);
  }

  override delete(receiptHandle: string): boolean {
    const entry = this.get(receiptHandle);
    if (entry !== undefined) this.#count(entry, -1);
    return super.delete(receiptHandle);
  }

  override clear(): void {
    this.#counts.clear();
    super.clear();
  }

  #count(entry: { message: GroupedMessage }, change: number): void {
    const group = entry.message.messageGroupId ?? '';
    const count = (this.#counts.get(group) ?? 0) + change;
    if (count > 0) this.#counts.set(group, count);
    else this.#counts.delete(group);
  }
}
