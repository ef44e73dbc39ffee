import type { Submission } from '../client/client.ts';

const BAR_WIDTH = 30;
/** The rate is that of the last seconds, so that it follows outages and recoveries. */
const RATE_WINDOW_MS = 5_000;
const LINE_INTERVAL_MS = 2_000;
const MEBIBYTE = 1024 * 1024;

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

type Progress = { readonly state: string; readonly counts: Submission['counts'] };

/** One line that says how far a submission is. */
export function progressLine({ state, counts }: Progress, ratePerSecond: number): string {
  const { total, succeeded, failed, cancelled } = counts;
  const finished = succeeded + failed + cancelled;
  const rate = `${Math.round(ratePerSecond)} records/s`;
  const bad = failed > 0 ? `, ${failed} failed` : '';
  if (total === null) return `${state}: ${finished} records finished, still counting, ${rate}${bad}`;
  const share = total === 0 ? 1 : finished / total;
  const left = ratePerSecond > 0 && finished < total ? `, ${duration((total - finished) / ratePerSecond)} left` : '';
  return `${bar(share)}  ${finished}/${total}, ${rate}${left}${bad}  ${state}`;
}

/** One line that says how much of a file has been uploaded. */
const uploadLine = (bytes: number, total: number): string =>
  `${bar(total === 0 ? 1 : bytes / total)}  uploading: ${(bytes / MEBIBYTE).toFixed(1)} of ${(total / MEBIBYTE).toFixed(1)} MiB`;

function bar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${percent} %`;
}

/** `45 s`, `3 min 5 s` */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** What of a terminal or another stream is needed to show progress. */
export interface ProgressStream {
  isTTY?: boolean;
  columns?: number;
  write: (text: string) => unknown;
}

/** Shows progress: a bar that moves on a terminal, else a line now and then. */
export class ProgressView {
  readonly #meter = new RateMeter();
  readonly #out: ProgressStream;
  #lastLineAtMs = -Infinity;
  #lastState = '';

  constructor(out: ProgressStream) {
    this.#out = out;
  }

  show(submission: Progress, nowMs: number): void {
    const { succeeded, failed, cancelled } = submission.counts;
    const line = progressLine(submission, this.#meter.add(succeeded + failed + cancelled, nowMs));
    this.#line(line, submission.state, nowMs);
  }

  showUpload(bytes: number, total: number, nowMs: number): void {
    this.#line(uploadLine(bytes, total), 'uploading', nowMs);
  }

  /** A line that stays, above the bar of a terminal. */
  say(text: string): void {
    this.#out.write(this.#out.isTTY ? `\r\u001b[2K${text}\n` : `${text}\n`);
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write('\n');
  }

  #line(line: string, state: string, nowMs: number): void {
    if (this.#out.isTTY) {
      this.#out.write(`\r\u001b[2K${line.slice(0, (this.#out.columns ?? 80) - 1)}`);
    } else if (state !== this.#lastState || nowMs - this.#lastLineAtMs >= LINE_INTERVAL_MS) {
      this.#out.write(`${line}\n`);
      this.#lastLineAtMs = nowMs;
      this.#lastState = state;
    }
  }
}
