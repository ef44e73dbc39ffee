import type { LocalFunctions } from './cloud/index.ts';
import { LocalError } from './errors.ts';

export interface StartFailures {
  /** @throws LocalError that says which functions could not start so far, and why */
  check(): void;
}

/** Notes functions that cannot start. `onFailure` is called once for each. */
export function watchStarts(
  functions: Pick<LocalFunctions, 'onInvocation' | 'specs'>,
  onFailure: (message: string) => void = () => undefined,
): StartFailures {
  const messages = new Map<string, string>();
  functions.onInvocation(({ functionName, initError }) => {
    if (initError === undefined || messages.has(functionName)) return;
    const { POWERTOOLS_SERVICE_NAME: service = functionName, LANE: lane } =
      functions.specs.find(({ name }) => name === functionName)?.environment ?? {};
    const label = lane === undefined ? service : `${service} (${lane} lane)`;
    const message = `The ${label} function cannot start: ${initError}`;
    messages.set(functionName, message);
    onFailure(message);
  });
  return {
    check() {
      if (messages.size > 0) throw new LocalError([...messages.values()].join('\n'));
    },
  };
}
