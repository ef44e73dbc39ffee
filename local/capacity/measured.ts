import type { PerRecord } from './designs.ts';

/**
 * What `npm run bench -- ops --limit 100 --records 5000` counted per succeeded record with the worker settings of `prod` (batches of 50) in
 * `dev`: the sample's records, full receives, no failures but the ten bad records of the file. The machine was busy: GB-seconds are an upper bound.
 */
export const MEASURED: PerRecord = {
  sqsRequests: 0.302,
  sqsFairRequests: 0.101,
  writeUnits: 1.225,
  readUnits: 1.373,
  s3Puts: 0.0014,
  s3Gets: 0.001,
  lambdaRequests: 0.075,
  otherGbSeconds: 0.0127,
  logBytes: 115,
};
