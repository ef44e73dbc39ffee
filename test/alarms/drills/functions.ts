import type { Drill } from '../drill.ts';
import { bulkFiles, fileAtFault, ill, manyFiles, manyQuestions, nearTimeout, redrives, together } from '../faults.ts';
import { good } from '../traffic.ts';

/** Event sources and the schedule that somebody switched off. */
const STOPPED: readonly Drill[] = [
  {
    fault: 'the event source of the small lane is disabled',
    lastsFor: 42,
    rings: {
      'SmallLane/NothingFinishes': 12,
      'SmallLane/Records/OldestMessageAge': 37,
      'SmallLane/OldestUnfinished': 37,
    },
    arrange: ill('small', { what: 'stopped' }),
  },
  {
    fault: 'the event source of the bulk lane is disabled',
    lastsFor: 250,
    fileEvery: 15,
    rings: {
      'BulkLane/NothingFinishes': 13,
      'BulkLane/Records/OldestMessageAge': 248,
      'BulkLane/OldestUnfinished': 248,
    },
    arrange: together(fileAtFault(good(61)), ill('bulk', { what: 'stopped' })),
  },
  {
    fault: 'the event source of the fan-out is disabled',
    lastsFor: 42,
    rings: { 'FanOut/Stalled': 9, 'FanOut/Requests/OldestMessageAge': 37 },
    arrange: ill('fanOut', { what: 'stopped' }),
  },
  {
    fault: 'the event source of the finalizer is disabled',
    lastsFor: 42,
    rings: {
      'Finalization/ResultsStalled': 17,
      'Finalization/Requests/OldestMessageAge': 37,
      'SmallLane/OldestUnfinished': 37,
    },
    arrange: ill('finalize', { what: 'stopped' }),
  },
  {
    fault: 'the schedule of the reconciler is disabled',
    lastsFor: 12,
    rings: { 'Reconciliation/NotRunning': 8 },
    arrange: ill('reconciler', { what: 'stopped' }),
  },
];

/** A deployment that does not start. */
const BROKEN: readonly Drill[] = [
  {
    fault: 'workers of the small lane fail at their start',
    lastsFor: 8,
    fileEvery: 1,
    rings: { 'SmallLane/Worker/Errors': 6 },
    arrange: ill('small', { what: 'broken' }),
  },
  {
    fault: 'workers of the bulk lane fail at their start',
    lastsFor: 8,
    rings: { 'BulkLane/Worker/Errors': 6 },
    arrange: together(bulkFiles(), ill('bulk', { what: 'broken' })),
  },
  {
    fault: 'the fan-out fails at its start',
    lastsFor: 45,
    fileEvery: 10,
    // What it has received and not deleted stays hidden, and grows older, for six times its timeout; the work itself goes on.
    silentWithin: 35,
    rings: { 'FanOut/FanOut/Errors': 3, 'FanOut/Stalled': 9, 'FanOut/Requests/OldestMessageAge': 40 },
    arrange: together(fileAtFault(good(3)), ill('fanOut', { what: 'broken' })),
  },
  {
    fault: 'the finalizer fails at its start',
    lastsFor: 45,
    fileEvery: 10,
    silentWithin: 35,
    rings: {
      'Finalization/Finalizer/Errors': 3,
      'Finalization/ResultsStalled': 17,
      'Finalization/Requests/OldestMessageAge': 40,
      'SmallLane/OldestUnfinished': 40,
    },
    arrange: together(fileAtFault(good(3)), ill('finalize', { what: 'broken' })),
  },
  {
    fault: 'the reconciler fails at its start',
    lastsFor: 10,
    rings: { 'Reconciliation/Reconciler/Errors': 3, 'Reconciliation/NotRunning': 8 },
    arrange: ill('reconciler', { what: 'broken' }),
  },
  {
    fault: 'the submit function fails at its start',
    lastsFor: 8,
    rings: { 'Submission/Submit/Errors': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyFiles(0.5), ill('submit', { what: 'broken' })),
  },
  {
    fault: 'the status function fails at its start',
    lastsFor: 8,
    rings: { 'Status/Status/Errors': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyQuestions, ill('status', { what: 'broken' })),
  },
  {
    fault: 'the authorizer fails at its start',
    lastsFor: 8,
    rings: { 'Authorization/Authorizer/Errors': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyQuestions, ill('authorizer', { what: 'broken' })),
  },
  {
    fault: 'the redrive function fails at its start',
    lastsFor: 6,
    silentWithin: 18,
    rings: { 'Redrive/Redrive/Errors': 3 },
    arrange: together(redrives(2), ill('redrive', { what: 'broken' })),
  },
];

const THROTTLED: readonly Drill[] = [
  {
    fault: 'workers of the small lane are throttled',
    lastsFor: 6,
    rings: { 'SmallLane/Worker/Throttles': 4 },
    arrange: ill('small', { what: 'throttled' }),
  },
  {
    fault: 'workers of the bulk lane are throttled',
    lastsFor: 6,
    rings: { 'BulkLane/Worker/Throttles': 4 },
    arrange: together(bulkFiles(), ill('bulk', { what: 'throttled' })),
  },
  {
    fault: 'the fan-out is throttled',
    lastsFor: 6,
    rings: { 'FanOut/FanOut/Throttles': 4, 'FanOut/Stalled': 9 },
    arrange: ill('fanOut', { what: 'throttled' }),
  },
  {
    fault: 'the finalizer is throttled',
    lastsFor: 6,
    rings: { 'Finalization/Finalizer/Throttles': 4 },
    arrange: ill('finalize', { what: 'throttled' }),
  },
  {
    fault: 'the reconciler is throttled',
    lastsFor: 10,
    rings: { 'Reconciliation/Reconciler/Throttles': 3, 'Reconciliation/NotRunning': 8 },
    arrange: ill('reconciler', { what: 'throttled' }),
  },
  {
    fault: 'the functions of the API are throttled',
    lastsFor: 8,
    rings: {
      'Submission/Submit/Throttles': 3,
      'Status/Status/Throttles': 3,
      'Authorization/Authorizer/Throttles': 3,
      'Api/ServerErrors': 4,
    },
    arrange: together(
      manyQuestions,
      manyFiles(0.5),
      ill('submit', { what: 'throttled' }),
      ill('status', { what: 'throttled' }),
      ill('authorizer', { what: 'throttled' }),
    ),
  },
  {
    fault: 'the redrive function is throttled',
    lastsFor: 6,
    silentWithin: 18,
    rings: { 'Redrive/Redrive/Throttles': 3 },
    arrange: together(redrives(2), ill('redrive', { what: 'throttled' })),
  },
];

/** Something that functions wait for has become slow. */
const SLOW: readonly Drill[] = [
  {
    fault: 'invocations of the small lane nearly run out of time',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'SmallLane/Worker/NearTimeout': 11 },
    arrange: nearTimeout('small'),
  },
  {
    fault: 'invocations of the bulk lane nearly run out of time',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'BulkLane/Worker/NearTimeout': 11 },
    arrange: together(bulkFiles(), nearTimeout('bulk')),
  },
  {
    fault: 'invocations of the fan-out nearly run out of time',
    lastsFor: 15,
    silentWithin: 25,
    rings: { 'FanOut/FanOut/NearTimeout': 15 },
    arrange: nearTimeout('fanOut'),
  },
  {
    fault: 'invocations of the finalizer nearly run out of time',
    lastsFor: 15,
    silentWithin: 25,
    rings: { 'Finalization/Finalizer/NearTimeout': 15 },
    arrange: nearTimeout('finalize'),
  },
  {
    fault: 'runs of the reconciler nearly run out of time',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Reconciliation/Reconciler/NearTimeout': 11 },
    arrange: nearTimeout('reconciler'),
  },
  {
    fault: 'answers of the submit function nearly run out of time',
    lastsFor: 16,
    silentWithin: 16,
    rings: { 'Submission/Submit/NearTimeout': 11, 'Api/SlowAnswers': 16 },
    arrange: nearTimeout('submit'),
  },
  {
    fault: 'answers of the status function nearly run out of time',
    lastsFor: 16,
    silentWithin: 16,
    rings: { 'Status/Status/NearTimeout': 11, 'Api/SlowAnswers': 16 },
    arrange: nearTimeout('status'),
  },
  {
    fault: 'decisions of the authorizer nearly run out of time',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Authorization/Authorizer/NearTimeout': 11 },
    arrange: nearTimeout('authorizer'),
  },
  {
    fault: 'the API answers slowly',
    lastsFor: 18,
    rings: { 'Api/SlowAnswers': 16 },
    arrange: ill('status', { what: 'slow', ms: 6_000 }),
  },
];

/** Functions that do not run, or not as they should. */
export const FUNCTION_DRILLS: readonly Drill[] = [...STOPPED, ...BROKEN, ...THROTTLED, ...SLOW];
