import { isPassingFailure } from '../domain/errors.ts';
import { invocationBudget, type InvocationContext } from './budget.ts';
import type { TimeBudget } from '../domain/time.ts';
import type { InvocationTelemetry } from './telemetry.ts';
import { sanitizeError } from './sanitize-error.ts';

export interface EventHandlerOptions<R> {
  work: (event: unknown, budget: TimeBudget) => Promise<R>;
  telemetry: InvocationTelemetry;
}

/**
 * The wrapper of functions that are called by a schedule or by hand: they answer with what they did. Errors are logged and thrown on,
 * so that the caller sees them and the function's error metric counts them; not their words where those are not ours.
 */
export function eventHandler<R>({ work, telemetry }: EventHandlerOptions<R>) {
  return async (event: unknown, context: InvocationContext): Promise<R> => {
    telemetry.begin(context);
    try {
      return await work(event, invocationBudget(context));
    } catch (error) {
      telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
      throw sanitizeError(error);
    } finally {
      telemetry.flush();
    }
  };
}
