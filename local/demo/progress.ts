import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';

const BAR_WIDTH = 30;
/** The rate is that of the last seconds, so that it follows outages and recoveries. */
const RATE_WINDOW_MS = 5_000;
const LINE_INTERVAL_MS = 2_000;

interface Sample {
  readonly atMs: number;
  readonly finished: number;
}

/** How fast records were finished lately. */
export class RateMeter {
  #samples: Sample[] = [];

  /** Records per second over the last seconds; 0 before there are two samples. */
  add(finished: number, atMs: number): number {
    this.#samples.push({ atMs, finished });
    // One sample from before the window stays, so that a slow poll still has something to compare with.
    while ((this.#samples[1]?.atMs ?? Infinity) < atMs - RATE_WINDOW_MS) this.#samples.shift();
    const [first] = this.#samples;
    if (first === undefined || first.atMs === atMs) return 0;
    return ((finished - first.finished) / (atMs - first.atMs)) * 1000;
  }
}

/** One line that says how far a submission is. */
export function progressLine({ state, counts }: SubmissionView, ratePerSecond: number): string {
  const { total, succeeded, failed, cancelled } = counts;
  const finished = succeeded + failed + cancelled;
  const rate = `${Math.round(ratePerSecond)} records/s`;
  const bad = failed > 0 ? `, ${failed} failed` : '';
  if (total === null) return `${state}: ${finished} records finished, still counting, ${rate}${bad}`;
  const share = total === 0 ? 1 : finished / total;
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
  const left = ratePerSecond > 0 && finished < total ? `, ${duration((total - finished) / ratePerSecond)} left` : '';
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${finished}/${total}, ${rate}${left}${bad}  ${state}`;
}

/** `45 s`, `3 min 5 s` */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Shows progress: a bar that moves on a terminal, else a line now and then. */
export class ProgressView {
  readonly #meter = new RateMeter();
  readonly #out: NodeJS.WriteStream;
  #lastLineAtMs = -Infinity;
  #lastState = '';

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  show(submission: SubmissionView, nowMs: number): void {
    const { succeeded, failed, cancelled } = submission.counts;
    const line = progressLine(submission, this.#meter.add(succeeded + failed + cancelled, nowMs));
    if (this.#out.isTTY) {
      this.#out.write(`\r\u001b[2K${line.slice(0, this.#out.columns - 1)}`);
    } else if (submission.state !== this.#lastState || nowMs - this.#lastLineAtMs >= LINE_INTERVAL_MS) {
      this.#out.write(`${line}\n`);
      this.#lastLineAtMs = nowMs;
      this.#lastState = submission.state;
    }
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write('\n');
  }
}
