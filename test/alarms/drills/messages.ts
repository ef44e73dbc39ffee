import type { Drill } from '../drill.ts';
import { bulkFiles, dlqEmptied, foreignRecord, newerMessage, together } from '../faults.ts';

/** A message is handed back for a quarter of an hour before it counts. The figure is summed over 20 minutes, and CloudWatch looks back over three sums. */
const NEWER = { lastsFor: 21, silentWithin: 60 } as const;

/** Messages of a version that is not deployed. */
const NEWER_MESSAGES: readonly Drill[] = [
  {
    fault: 'a message of a newer version is in the small lane',
    ...NEWER,
    rings: { 'SmallLane/NewerMessages': 20 },
    arrange: newerMessage('small'),
  },
  {
    fault: 'a message of a newer version is in the bulk lane',
    ...NEWER,
    rings: { 'BulkLane/NewerMessages': 20 },
    arrange: together(bulkFiles(6), newerMessage('bulk')),
  },
  {
    fault: 'a message of a newer version is in the queue of the fan-out',
    ...NEWER,
    rings: { 'FanOut/NewerMessages': 20 },
    arrange: newerMessage('fanOut'),
  },
  {
    fault: 'a message of a newer version is in the queue of the finalizer',
    ...NEWER,
    rings: { 'Finalization/NewerMessages': 20 },
    arrange: newerMessage('finalize'),
  },
  {
    fault: 'a message of a newer version is in the queue of prepare',
    ...NEWER,
    rings: { 'Preparation/NewerMessages': 20 },
    arrange: newerMessage('prepare'),
  },
];

/** Messages that no record can be processed from. */
const SET_APART: readonly Drill[] = [
  {
    fault: 'a message of the small lane is about a record that its submission does not have',
    lastsFor: 6,
    silentWithin: 16,
    rings: { 'SmallLane/MessagesSetApart': 3, 'SmallLane/Records/DeadLetters': 3 },
    arrange: together(foreignRecord('small'), dlqEmptied('small')),
  },
  {
    fault: 'a message of the bulk lane is about a record that its submission does not have',
    lastsFor: 6,
    silentWithin: 16,
    rings: { 'BulkLane/MessagesSetApart': 3, 'BulkLane/Records/DeadLetters': 3 },
    arrange: together(bulkFiles(), foreignRecord('bulk'), dlqEmptied('bulk')),
  },
];

/** Messages that a function cannot work. */
export const MESSAGE_DRILLS: readonly Drill[] = [...NEWER_MESSAGES, ...SET_APART];
