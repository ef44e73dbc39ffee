import pLimit from 'p-limit';
import { isOpen } from '../model.ts';
import type { OpenWork } from '../tenants/ports.ts';
import type { ReconcileDeps } from './deps.ts';

const PARALLEL_TENANTS = 8;
/** A smaller difference is not worth a write: admission goes by estimates anyway. */
const TOLERATED_SHARE = 0.1;

/**
 * Corrects what counts as open of tenants by what is open: adds what is missing (a replay, or a count that could not be written), and
 * removes what has ended or expired. So nothing stays counted for ever. Looks at tenants that have open submissions now, and at those
 * that had some in the run before.
 *
 * @param open - What is open, by tenant.
 * @throws DependencyUnavailableError; the next run repeats it, for the same tenants.
 */
export async function recountOpenWork(
  deps: Pick<ReconcileDeps, 'admission' | 'submissions'>,
  open: ReadonlyMap<string, readonly OpenWork[]>,
): Promise<void> {
  const tenants = new Set([...(await deps.admission.tenantsWithWork()), ...open.keys()]);
  await pLimit(PARALLEL_TENANTS).map(tenants, async (tenantId) =>
    recountTenant(deps, tenantId, open.get(tenantId) ?? []),
  );
  await deps.admission.saveTenantsWithWork([...open.keys()]);
}

async function recountTenant(
  { admission, submissions }: Pick<ReconcileDeps, 'admission' | 'submissions'>,
  tenantId: string,
  open: readonly OpenWork[],
): Promise<void> {
  const counted = new Map((await admission.openWork(tenantId)).map((work) => [work.submissionId, work]));
  // The list of open submissions is a moment old, and this decides: it may have begun or ended since.
  const isOpenNow = async (submissionId: string): Promise<boolean> => {
    const head = await submissions.get(submissionId);
    return head !== undefined && isOpen(head.state);
  };
  for (const work of open) {
    if (isNear(work, counted.get(work.submissionId))) counted.delete(work.submissionId);
    else if (await isOpenNow(work.submissionId)) {
      await admission.setOpenWork(tenantId, work);
      counted.delete(work.submissionId);
    }
  }
  for (const { submissionId } of counted.values()) {
    if (!(await isOpenNow(submissionId))) await admission.clearOpenWork(tenantId, submissionId);
  }
}

const isNear = (actual: OpenWork, counted: OpenWork | undefined): boolean =>
  counted !== undefined &&
  counted.lane === actual.lane &&
  Math.abs(counted.records - actual.records) <= TOLERATED_SHARE * Math.max(counted.records, actual.records);
