import { beginCount } from '../drills/account.ts';
import { submitGenerated, untilClosed } from '../drills/rig.ts';
import type { BenchContext } from './context.ts';
import { meter, type Operations } from './meter.ts';
import { atMost, decimals, reported, type BenchResult } from './result.ts';

const RECORDS = 5_000;
const PATIENCE_MS = 600_000;
const MOST = { sqs: 0.35, writes: 1.5, s3Puts: 0.01, logBytes: 300, workerMemory: 0.75 };

/** Counts what AWS would bill for a file, from its submission to its results, for each record that succeeded. */
export async function ops({ limit, withRig, records = RECORDS, say }: BenchContext): Promise<BenchResult> {
  const providers = await limit();
  say(`ops: ${records} records, every billable operation counted …`);
  return withRig({ limit: providers, metersCapacity: true }, async (rig) => {
    await beginCount(rig);
    const end = meter(rig.sluice);
    const { id } = await submitGenerated(rig, records);
    const { counts } = await untilClosed(rig, id, PATIENCE_MS);
    return { name: 'ops', figures: figuresOf(end(), counts.succeeded) };
  });
}

export function figuresOf(counted: Operations, succeeded: number): BenchResult['figures'] {
  const per = (value: number): number => value / succeeded;
  const show = decimals(3);
  const sqs = counted.sqsSends + counted.sqsDeletes + counted.sqsReceives + counted.sqsOther;
  return [
    reported('succeeded', String(succeeded)),
    atMost('SQS requests', per(sqs), MOST.sqs, show),
    reported(
      'of them',
      `${show(per(counted.sqsSends))} sends, ${show(per(counted.sqsReceives))} receives, ${show(per(counted.sqsDeletes))} deletes`,
    ),
    reported('empty receives of idle event sources', `${counted.sqsEmptyReceives} in all`),
    atMost('DynamoDB write units', per(counted.writeUnits + counted.indexWriteUnits), MOST.writes, show),
    reported('DynamoDB read units', show(per(counted.readUnits))),
    atMost('S3 PUT, LIST', per(counted.s3Puts), MOST.s3Puts, decimals(5)),
    reported('S3 GET', decimals(5)(per(counted.s3Gets))),
    atMost('log bytes', per(counted.logBytes), MOST.logBytes, decimals(0)),
    reported('Lambda invocations', show(per(counted.invocations))),
    reported(
      'GB-s of workers; of the others',
      [counted.workerGigabyteSeconds, counted.otherGigabyteSeconds].map((gbs) => decimals(5)(per(gbs))).join('; '),
    ),
    atMost('resident memory of a worker ÷ its memory', counted.workerPeakShare, MOST.workerMemory, decimals(2)),
    reported('other AWS calls', `${counted.otherCalls} in all`),
  ];
}
