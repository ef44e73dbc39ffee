import type { HttpTransport, TransportResult } from '../../lambdas/domain/providers/ports.ts';
import type { Clock } from '../../lambdas/domain/time.ts';

export interface Call {
  url: string;
  atMs: number;
  authorization: string | undefined;
}

export interface FakeProvider extends HttpTransport {
  readonly calls: Call[];
  /** How it answers from now on; `undefined` means well. */
  behave(behaviour: (call: Call, index: number) => TransportResult | undefined): void;
  latencyMs: number;
}

export const respond = (status: number, body: unknown = {}, headers: Record<string, string> = {}): TransportResult => ({
  kind: 'response',
  status,
  headers,
  body: Buffer.from(JSON.stringify(body)),
  truncated: false,
});

/** A provider behind the transport port, on the test's clock, that remembers every call. */
export function createFakeProvider(clock: Clock): FakeProvider {
  const calls: Call[] = [];
  let behaviour: (call: Call, index: number) => TransportResult | undefined = () => undefined;
  const provider: FakeProvider = {
    calls,
    latencyMs: 50,
    behave(next) {
      behaviour = next;
    },
    async request({ url, headers }) {
      const call = { url, atMs: clock.now(), authorization: headers['authorization'] };
      const index = calls.push(call) - 1;
      // What it answers is decided when the call arrives.
      const result = behaviour(call, index) ?? respond(200, { name: 'Acme' });
      await clock.sleep(provider.latencyMs);
      return result;
    },
  };
  return provider;
}
