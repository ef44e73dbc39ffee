import type { TransportResult } from '../../domain/providers/ports.ts';
import { failureOf } from './transport-errors.ts';

/** One exchange over HTTP with one deadline over everything. What the network does is a result, never an error. */
export async function withDeadline(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<TransportResult>,
): Promise<TransportResult> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    return await work(deadline.signal);
  } catch (error) {
    return failureOf(error, deadline.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
}
