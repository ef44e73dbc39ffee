import type { AdmissionStore, Backlog, DeadLetterLog, OpenWork } from '../../../lambdas/domain/tenants/ports.ts';

export function createMemoryAdmission(): AdmissionStore {
  const tenants = new Map<string, Map<string, OpenWork>>();
  let newest: Backlog | undefined;
  let deadLetterLog: DeadLetterLog | undefined;
  let withWork: string[] | undefined;

  return {
    async openWork(tenantId) {
      const work = [...(tenants.get(tenantId)?.values() ?? [])];
      return structuredClone(work).toSorted((a, b) => (a.submissionId < b.submissionId ? -1 : 1));
    },
    async setOpenWork(tenantId, work) {
      const open = tenants.get(tenantId) ?? new Map<string, OpenWork>();
      tenants.set(tenantId, open.set(work.submissionId, structuredClone(work)));
    },
    async clearOpenWork(tenantId, submissionId) {
      tenants.get(tenantId)?.delete(submissionId);
    },
    async tenantsWithWork() {
      return [...(withWork ?? [])];
    },
    async saveTenantsWithWork(ids) {
      withWork = [...ids];
    },
    async recountSoon(tenantId) {
      if (withWork !== undefined && !withWork.includes(tenantId)) withWork.push(tenantId);
    },
    async deadLetters() {
      return structuredClone(deadLetterLog);
    },
    async saveDeadLetters(log) {
      deadLetterLog = structuredClone(log);
    },
    async backlog() {
      return structuredClone(newest);
    },
    async saveBacklog(backlog) {
      if (newest === undefined || newest.asOfMs <= backlog.asOfMs) newest = structuredClone(backlog);
    },
  };
}
