import { describe, expect, test } from '@jest/globals';
import { watchStarts } from '../../local/start-failures.ts';

type Functions = Parameters<typeof watchStarts>[0];
type Report = Parameters<Parameters<Functions['onInvocation']>[0]>[0];

function start(onFailure?: (message: string) => void) {
  const observers: ((report: Report) => void)[] = [];
  const spec = (name: string, environment: Record<string, string>) =>
    ({ name, environment }) as Functions['specs'][number];
  const failures = watchStarts(
    {
      specs: [
        spec('W1', { POWERTOOLS_SERVICE_NAME: 'worker', LANE: 'bulk' }),
        spec('F1', { POWERTOOLS_SERVICE_NAME: 'fan-out' }),
      ],
      onInvocation: (observer) => {
        observers.push(observer);
        return () => undefined;
      },
    },
    onFailure,
  );
  const report = (functionName: string, initError?: string): void => {
    for (const observer of observers) observer({ functionName, initError } as Report);
  };
  return { failures, report };
}

describe('functions that cannot start', () => {
  test('are named with their lane and the reason, each once', () => {
    const said: string[] = [];
    const { failures, report } = start((message) => said.push(message));
    report('F1');
    expect(() => failures.check()).not.toThrow();
    report('W1', 'Provider "geo" has no rate.');
    report('W1', 'Provider "geo" has no rate.');
    report('F1', 'BUCKET is missing');
    const expected = [
      'The worker (bulk lane) function cannot start: Provider "geo" has no rate.',
      'The fan-out function cannot start: BUCKET is missing',
    ];
    expect(() => failures.check()).toThrow(expected.join('\n'));
    expect(said).toEqual(expected);
  });
});
