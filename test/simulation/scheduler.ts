interface Event {
  atMs: number;
  order: number;
  run: () => void;
}

/** The true time of the simulated world, and everything that is going to happen in it. */
export interface Scheduler {
  now(): number;
  at(atMs: number, run: () => void): void;
  /** Resolves `ms` later; always in a turn of its own, also for 0. */
  sleep(ms: number): Promise<void>;
  /** Runs events in the order of their times until `isOver` says so or none is left; returns how many. */
  run(isOver: () => boolean): Promise<number>;
}

/**
 * Events run one at a time. Before the next one, every promise that can go on without time passing has gone on: the domain
 * waits for nothing but ports and clocks, and all of those are events here. Same events, same order, same run.
 */
export function createScheduler(startMs: number): Scheduler {
  let nowMs = startMs;
  let order = 0;
  const heap = new EventHeap();
  const at = (atMs: number, run: () => void): void => heap.push({ atMs: Math.max(atMs, nowMs), order: order++, run });
  return {
    now: () => nowMs,
    at,
    sleep: async (ms) => new Promise((resolve) => at(nowMs + Math.max(0, ms), resolve)),
    async run(isOver) {
      let events = 0;
      await settled();
      while (!isOver()) {
        const event = heap.pop();
        if (event === undefined) break;
        nowMs = event.atMs;
        event.run();
        events += 1;
        await settled();
      }
      return events;
    },
  };
}

/** An immediate runs only when no promise has anything left to do. */
const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const isBefore = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A binary heap: the earliest event first, of equals the one that was added first. */
class EventHeap {
  readonly #events: Event[] = [];

  push(event: Event): void {
    const events = this.#events;
    let at = events.length;
    events.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = events[parent];
      if (above === undefined || !isBefore(event, above)) break;
      events[at] = above;
      at = parent;
    }
    events[at] = event;
  }

  pop(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (first === undefined || last === undefined || events.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const l = events[left];
      if (l === undefined) break;
      const r = events[right];
      const [child, childAt] = r !== undefined && isBefore(r, l) ? [r, right] : [l, left];
      if (!isBefore(child, last)) break;
      events[at] = child;
      at = childAt;
    }
    events[at] = last;
    return first;
  }
}
