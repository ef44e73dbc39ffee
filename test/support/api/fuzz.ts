import { OPERATION_IDS, OPERATIONS, type Operation, type OperationId } from '../../../lambdas/domain/api/operations.ts';
import { problemsOf } from '../../../lambdas/domain/api/openapi.ts';
import { PROBLEMS } from '../../../lambdas/domain/api/problems.ts';
import type { Random } from '../../../lambdas/domain/time.ts';

/** A request of a client that is well-behaved, careless or hostile. */
export interface FuzzCall {
  operation: OperationId;
  method: string;
  /** Percent-encoded. */
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  key: 'good' | 'none' | 'foreign';
}

/** Ids that exist, so that valid requests reach something. */
export interface KnownIds {
  submissions: readonly string[];
  uploads: readonly string[];
  webhooks: readonly string[];
  deliveries: readonly string[];
}

const HOSTILE = [
  '',
  ' ',
  '0',
  '-1',
  '1e400',
  '99999999999999999999',
  'null',
  '__proto__',
  'constructor',
  '../../results/acme',
  '%00',
  '\u0000',
  '\ud800',
  'ä€😀',
  '\u202e',
  "' OR 1=1 --",
  '${jndi:ldap://x}',
  '<script>',
  'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  'x'.repeat(300),
  'y'.repeat(3_000),
];
const BODIES: readonly (string | Uint8Array)[] = [
  '',
  '{',
  'null',
  '[]',
  '[{"record_id":"1"}]',
  '"text"',
  '1e400',
  '{"a":1,"a":2}',
  '{"__proto__":{"uploadId":"x"}}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  '{"record_id":"1"}\n{"record_id":"2"}\n',
  'record_id,name\n1,a\n',
  `{"reference":"${'z'.repeat(20_000)}"}`,
  Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
  Uint8Array.from({ length: 256 }, (_, byte) => byte),
];
const TYPES = [
  'application/json',
  'text/csv',
  'application/x-ndjson',
  'text/csv; charset=utf-16',
  'application/xml',
  ';',
  'constructor',
  '',
];
const METHODS = ['HEAD', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'];

/** Values that parameters, members and headers accept, by name. */
const VALID: Readonly<Record<string, readonly string[]>> = {
  state: ['processing', 'failed', 'complete', 'pending'],
  reason: ['invalid_record', 'cancelled'],
  limit: ['1', '20', '500'],
  wait: ['0'],
  fileName: ['a.csv', 'b.ndjson', 'C:\\c.json'],
  reference: ['r'],
  expectedRecords: ['2'],
  callbackUrl: ['https://hooks.sluice.example/done'],
  url: ['https://hooks.sluice.example/events'],
  description: ['CRM'],
  overlapHours: ['0', '24'],
  format: ['csv', 'json'],
  profile: ['crm', 'shop@1'],
  duplicates: ['allow', 'reject_later'],
  sizeBytes: ['10'],
  'Idempotency-Key': ['k1', 'k2', 'k3'],
  'If-None-Match': ['*', 'W/"x"', '"a", "b"'],
};

/** The next request of a seeded sequence. */
export function fuzzCall(random: Random, known: KnownIds): FuzzCall {
  const pick = <T>(values: readonly T[]): T => {
    const value = values[Math.floor(random() * values.length)];
    if (value === undefined) throw new Error('Nothing to pick from.');
    return value;
  };
  const chance = (share: number): boolean => random() < share;
  const valueOf = (name: string): string => (chance(0.7) && VALID[name] ? pick(VALID[name]) : pick(HOSTILE));
  const some = (names: readonly string[]): [string, string][] =>
    names.filter(() => chance(0.4)).map((name) => [name, valueOf(name)]);

  const id = pick(OPERATION_IDS);
  const operation: Operation = OPERATIONS[id];
  const segment = (name: string): string => {
    if (chance(0.2)) return pick(HOSTILE.filter((text) => text.trim() !== '').map((text) => text.toWellFormed()));
    if (name === 'webhookId') return pick(known.webhooks);
    if (name === 'deliveryId') return pick(known.deliveries);
    if (name === 'name') return pick(['crm', 'crm@1', 'shop']);
    return name === 'id' ? pick(known.submissions) : pick(['1', '2', '3', '999999']);
  };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segment(name)));
  const call: FuzzCall = {
    operation: id,
    method: chance(0.05) ? pick(METHODS) : operation.method,
    path,
    query: Object.fromEntries(chance(0.6) ? some(Object.keys(operation.query.entries)) : []),
    headers: Object.fromEntries(
      some(operation.headers ?? []).map(([name, value]) => [name, value.replaceAll(/[^ -~]|^\s|\s$/g, '?')]),
    ),
    key: chance(0.9) ? 'good' : pick(['none', 'foreign']),
  };
  if (chance(0.05)) call.query[pick(HOSTILE)] = pick(HOSTILE);
  if (operation.body === undefined) return call;
  if (chance(0.4)) return { ...call, body: pick(BODIES), headers: { ...call.headers, 'content-type': pick(TYPES) } };
  const members = some(Object.keys(operation.body.json.entries)).map(([name, text]): [string, unknown] => [
    name,
    chance(0.8) && /^\d+$/.test(text) ? Number(text) : text,
  ]);
  if ('uploadId' in operation.body.json.entries && chance(0.9)) members.push(['uploadId', pick(known.uploads)]);
  // A profile that says nothing is one; of hostile members nothing comes through.
  if ('reading' in operation.body.json.entries && chance(0.4)) members.length = 0;
  if ('url' in operation.body.json.entries && chance(0.95))
    members.push(['url', 'https://hooks.sluice.example/events']);
  return {
    ...call,
    body: JSON.stringify(Object.fromEntries(members)),
    headers: { ...call.headers, 'content-type': 'application/json' },
  };
}

/** Statuses of operations that were seen. */
export class Coverage {
  readonly #seen = new Map<OperationId, Map<number, number>>();

  add(operation: OperationId, status: number): void {
    const ofOperation = this.#seen.get(operation) ?? new Map<number, number>();
    this.#seen.set(operation, ofOperation.set(status, (ofOperation.get(status) ?? 0) + 1));
  }

  statusesOf(operation: OperationId): number[] {
    return [...(this.#seen.get(operation)?.keys() ?? [])].sort((a, b) => a - b);
  }

  /** A line for each operation: how often which status, and which documented ones were not seen. */
  toString(): string {
    const lines = OPERATION_IDS.map((id) => {
      const seen = this.statusesOf(id).map((status) => `${status}×${this.#seen.get(id)?.get(status)}`);
      const missing = documentedStatuses(id).filter((status) => !this.#seen.get(id)?.has(status));
      return `${id.padEnd(18)} ${seen.join(' ')}${missing.length > 0 ? `  not seen: ${missing.join(' ')}` : ''}`;
    });
    const documented = OPERATION_IDS.flatMap((id) => documentedStatuses(id).map((status) => [id, status] as const));
    const covered = documented.filter(([id, status]) => this.#seen.get(id)?.has(status));
    return [...lines, `operations × statuses: ${covered.length} of ${documented.length} documented`].join('\n');
  }
}

/** Every status that the OpenAPI document has for an operation. */
export function documentedStatuses(id: OperationId): number[] {
  const operation: Operation = OPERATIONS[id];
  const statuses = problemsOf(operation).map((code): number => PROBLEMS[code].status);
  return [...new Set([operation.success.status, ...(operation.unchanged ? [304] : []), ...statuses])].sort(
    (a, b) => a - b,
  );
}
