import { describe, expect, it } from '@jest/globals';
import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { AcceptedSchemas, type SchemaSet } from '../../../lambdas/domain/submissions/schemas.ts';
import { TERMS_OF_0_1_0 } from '../../../lambdas/domain/submissions/terms.ts';
import { makeFields } from '../../support/factories.ts';
import { respond } from '../../support/fake-provider.ts';
import { createWorkerRig } from '../../support/worker-rig.ts';

const OBJECT = { type: 'object' };
const UNCHANGED: SchemaSet = {
  record: recordSchema,
  responses: { company: OBJECT, geo: OBJECT },
  lookups: ['domain', 'country', 'postal_code'],
};

/** A worker with the schemas of today, and one record of a file that was accepted with others. */
async function rigWith(
  accepted: SchemaSet,
  { isStored = true, fields = makeFields() }: { isStored?: boolean; fields?: Record<string, unknown> } = {},
) {
  const reads: unknown[] = [];
  const rig = createWorkerRig({
    hook: async ({ method, args }, apply) => {
      if (method === 'getSchemas') reads.push(args[0]);
      return apply();
    },
  });
  const schemas = new AcceptedSchemas(rig.world.submissions, accepted);
  if (isStored) await schemas.keep();
  await rig.submit(1, () => ({ content: { kind: 'record', fields } }), {
    terms: { ...TERMS_OF_0_1_0, schemas: schemas.hash },
  });
  return { rig, reads, hash: schemas.hash };
}

describe('a file that is open while the record schema', () => {
  it('becomes looser is still checked as strictly as when it was accepted', async () => {
    const { rig } = await rigWith({ ...UNCHANGED, record: { ...recordSchema, required: ['record_id', 'vat_number'] } });
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'failed', reason: 'invalid_record' });
    expect(rig.company.calls).toEqual([]);
  });

  it('becomes stricter loses no record to it', async () => {
    const { record_id: _required, ...fields } = makeFields();
    const { rig } = await rigWith({ ...UNCHANGED, record: OBJECT }, { fields });
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a file that is open while a response schema changes', () => {
  it('takes the answers that it was accepted to take, and no others', async () => {
    const strict = { ...OBJECT, required: ['name'] };
    const { rig } = await rigWith({ ...UNCHANGED, responses: { company: strict, geo: OBJECT } });
    rig.company.behave(() => respond(200, { other: 1 }));
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'retrying', reason: 'provider_bad_response', waitingOn: 'company' });
  });
});

describe('the schemas that a file was accepted with', () => {
  it('are read once by a process, and not at all where they are its own', async () => {
    const other = await rigWith({ ...UNCHANGED, record: OBJECT });
    await other.rig.drain();
    await other.rig.submit(1);
    await other.rig.drain();
    expect(other.reads).toEqual([other.hash]);
    const same = await rigWith(UNCHANGED);
    await same.rig.drain();
    expect(same.reads).toEqual([]);
  });

  it('are waited for where they are gone, and told of', async () => {
    const { rig } = await rigWith({ ...UNCHANGED, record: OBJECT }, { isStored: false });
    await rig.step();
    expect(rig.rows()).toEqual([]);
    expect(rig.lane.messages()).toHaveLength(1);
    expect(rig.telemetry.named('unexpected_error')).toMatchObject([{ level: 'error' }]);
  });
});
