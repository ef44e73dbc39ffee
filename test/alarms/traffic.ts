import { newUpload, uploadKey } from '../../lambdas/domain/api/ids.ts';
import { fileOf } from '../simulation/files.ts';
import type { RecordKind } from '../simulation/plan.ts';
import { START_MS } from '../support/memory/index.ts';
import { Front } from './front.ts';
import type { MonitoredSimulation } from './monitored.ts';

export interface File {
  readonly tenant: string;
  readonly kinds: readonly RecordKind[];
  /** A character set that is named: such a file is prepared. Default: none. */
  readonly charset?: string;
}

/** So many good records. */
export const good = (records: number): RecordKind[] => Array.from({ length: records }, () => 'good');

const POLLS_PER_MINUTE = 4;

/** What customers do: submit files and ask what became of them. */
export class Traffic {
  readonly #simulation: MonitoredSimulation;
  readonly #front: Front;
  #files = 0;

  constructor(simulation: MonitoredSimulation) {
    this.#simulation = simulation;
    this.#front = new Front(simulation);
  }

  /** Submits a file so many minutes after the start. */
  submit(minute: number, { tenant, kinds, charset }: File): void {
    const index = this.#files++;
    this.#simulation.at(minute, async () =>
      this.#front.request({
        method: 'POST',
        resource: '/v1/submissions',
        tenant,
        headers: { 'Content-Type': charset === undefined ? 'text/csv' : `text/csv; charset=${charset}` },
        body: fileOf({ index, tenantId: tenant, atMs: 0, file: 'csv', kinds }, false),
      }),
    );
  }

  /** Lists submissions again and again, from one minute to another. */
  ask(fromMinute: number, toMinute: number, tenant = 'acme', perMinute = POLLS_PER_MINUTE): void {
    for (let poll = 0; poll < (toMinute - fromMinute) * perMinute; poll++) {
      this.#simulation.at(fromMinute + poll / perMinute + 0.01, async () =>
        this.#front.request({ method: 'GET', resource: '/v1/submissions', tenant }),
      );
    }
  }

  /** Looks at a file again and again, from one minute to another. */
  preview(fromMinute: number, toMinute: number, tenant: string, perMinute: number): void {
    const upload = newUpload(START_MS, () => 0.5);
    this.#simulation.world.objects.seed(uploadKey(tenant, upload), 'record_id,domain\n1,acme.example\n');
    const body = { uploadId: upload.uploadId };
    for (let look = 0; look < (toMinute - fromMinute) * perMinute; look++) {
      this.#simulation.at(fromMinute + look / perMinute + 0.02, async () =>
        this.#front.request({ method: 'POST', resource: '/v1/previews', tenant, body }),
      );
    }
  }
}
