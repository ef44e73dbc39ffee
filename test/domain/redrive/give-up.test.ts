import { createRedriveRig } from '../../support/redrive-rig.ts';
import { SUBMISSION_ID } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';

const REQUEST = { mode: 'give_up', submissionId: SUBMISSION_ID };

/** A submission of three records whose results are due. */
async function finalizing() {
  const rig = createRedriveRig();
  await rig.seed(3);
  await rig.world.submissions.closeChunks(SUBMISSION_ID, [0], START_MS);
  await rig.world.submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS);
  const order = async () => (await rig.world.submissions.get(SUBMISSION_ID))?.givenUpGeneration;
  return { rig, order };
}

describe('giving up the results of a submission', () => {
  it('is counted in a dry run, and nothing is changed', async () => {
    const { rig, order } = await finalizing();
    expect(await rig.ask({ ...REQUEST, dryRun: true })).toMatchObject({ dryRun: true, givenUp: 1, replayed: 0 });
    expect(await order()).toBeUndefined();
  });

  it('leaves the order for the finalizer, for this generation', async () => {
    const { rig, order } = await finalizing();
    expect(await rig.ask({ ...REQUEST, dryRun: false })).toMatchObject({ dryRun: false, givenUp: 1, replayed: 0 });
    expect(await order()).toBe(0);
  });

  it.each([true, false])('is refused while records are open (dryRun %s)', async (dryRun) => {
    const rig = createRedriveRig();
    await rig.seed(3);
    await expect(rig.ask({ ...REQUEST, dryRun })).rejects.toThrow(
      `submissionId is "${SUBMISSION_ID}": it is processing, and only a submission that is finalizing can be given up.`,
    );
  });

  it('is refused for a submission that is not there', async () => {
    const rig = createRedriveRig();
    await expect(rig.ask({ ...REQUEST, submissionId: 'nope', dryRun: false })).rejects.toThrow('there is no such');
  });
});
