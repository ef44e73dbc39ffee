import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { CLOSED_STATES } from '../../../lambdas/domain/model.ts';
import type { SubmissionView } from '../../../lambdas/domain/api/schemas.ts';
import { ApiClient } from '../../../local/demo/client.ts';
import type { LocalSluice } from '../../../local/start.ts';
import { synthesize } from '../../../local/synthesize.ts';

export const ROOT = resolve(import.meta.dirname, '..', '..', '..');
export const SAMPLE = join(ROOT, 'samples', 'customers.csv');

export const clientOf = (sluice: LocalSluice, tenant = 0): ApiClient =>
  new ApiClient(sluice.apiUrl, sluice.tenants[tenant]?.apiKey ?? '');

/** Asks until the condition holds; the test's own timeout is the limit. */
export async function waitFor<T>(ask: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** A submission once it has ended. */
export const ended = (client: ApiClient, id: string): Promise<SubmissionView> =>
  waitFor(
    () => client.submission(id),
    ({ state }) => CLOSED_STATES.some((closed) => closed === state),
  );

/** One call of the API, as any HTTP client makes it. */
export async function call(
  sluice: LocalSluice,
  path: string,
  init: {
    method?: string;
    body?: string;
    contentType?: string;
    tenant?: number;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${sluice.apiUrl}${path}`, {
    method: init.method ?? 'GET',
    headers: {
      authorization: `Bearer ${sluice.tenants[init.tenant ?? 0]?.apiKey ?? ''}`,
      ...init.headers,
      ...(init.contentType === undefined ? {} : { 'content-type': init.contentType }),
    },
    ...(init.body === undefined ? {} : { body: init.body }),
  });
  return { status: response.status, body: await response.json() };
}

const templateSchema = v.looseObject({
  Resources: v.record(
    v.string(),
    v.looseObject({
      Type: v.string(),
      Properties: v.optional(v.looseObject({ PolicyDocument: v.optional(v.unknown()) })),
    }),
  ),
});
const documentSchema = v.looseObject({ Statement: v.array(v.looseObject({ Sid: v.optional(v.string()) })) });

/**
 * A copy of the assembly in which a statement is missing from the policies whose logical id begins so.
 *
 * @returns its directory, and how to remove it
 */
export async function assemblyWithout(
  logicalId: string,
  sid: string,
): Promise<{ directory: string; remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-assembly-'));
  await cp(await synthesize({ stage: 'dev' }), directory, { recursive: true });
  let removed = 0;
  for (const file of await readdir(directory)) {
    if (!file.endsWith('.template.json')) continue;
    const template = v.parse(templateSchema, JSON.parse(await readFile(join(directory, file), 'utf8')));
    for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
      if (Type !== 'AWS::IAM::Policy' || !id.startsWith(logicalId) || Properties === undefined) continue;
      const document = v.parse(documentSchema, Properties.PolicyDocument);
      const Statement = document.Statement.filter((statement) => statement.Sid !== sid);
      removed += document.Statement.length - Statement.length;
      Properties.PolicyDocument = { ...document, Statement };
    }
    await writeFile(join(directory, file), JSON.stringify(template));
  }
  if (removed !== 1)
    throw new Error(`${removed} statements ${sid} are in the policies ${logicalId}…; one was expected.`);
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
