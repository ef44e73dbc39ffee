import type { PerRecord } from './designs.ts';

/**
 * What `npm run bench -- ops --limit 100 --records 5000` counted per succeeded record: the sample's records, full receives, no failures but
 * the ten bad records of the file.
 */
export const MEASURED: PerRecord = {
  sqsRequests: 0.306,
  sqsFairRequests: 0.102,
  writeUnits: 1.409,
  readUnits: 1.232,
  s3Puts: 0.0014,
  s3Gets: 0.0008,
  lambdaRequests: 0.128,
  otherGbSeconds: 0.002,
  logBytes: 226,
};
