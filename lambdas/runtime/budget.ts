import type { TimeBudget } from '../domain/time.ts';

/** What is needed of the context that Lambda hands to every invocation. */
export interface InvocationContext {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** The time that Lambda leaves this invocation. */
export const invocationBudget = (context: InvocationContext): TimeBudget => ({
  remainingMs: () => context.getRemainingTimeInMillis(),
});
