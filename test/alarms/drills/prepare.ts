import type { Drill } from '../drill.ts';
import { encodedFileAtFault, encodedFiles, ill, nearTimeout, together } from '../faults.ts';

/**
 * What an invocation has received and not deleted stays hidden, and grows older, for six times its timeout of a quarter of an hour. The file
 * itself is prepared by another message, which the reconciler causes.
 */
const HIDDEN = { silentWithin: 100, fileEvery: 5 } as const;

/** Files that are not prepared. */
export const PREPARE_DRILLS: readonly Drill[] = [
  {
    fault: 'the event source of prepare is disabled',
    lastsFor: 42,
    rings: { 'PrepareRequests/OldestMessageAge': 37 },
    arrange: together(encodedFileAtFault, ill('prepare', { what: 'stopped' })),
  },
  {
    fault: 'prepare fails at its start',
    // Shorter than a file may stand: then the page is about what is hidden only.
    lastsFor: 2,
    ...HIDDEN,
    rings: { 'Preparation/Prepare/Errors': 3, 'PrepareRequests/OldestMessageAge': 40 },
    arrange: together(encodedFiles(1), ill('prepare', { what: 'broken' })),
  },
  {
    fault: 'prepare is throttled',
    lastsFor: 2,
    ...HIDDEN,
    rings: { 'Preparation/Prepare/Throttles': 4, 'PrepareRequests/OldestMessageAge': 40 },
    arrange: together(encodedFiles(1), ill('prepare', { what: 'throttled' })),
  },
  {
    fault: 'invocations of prepare nearly run out of time',
    lastsFor: 25,
    silentWithin: 40,
    rings: { 'Preparation/Prepare/NearTimeout': 25 },
    arrange: together(encodedFiles(5), nearTimeout('prepare')),
  },
  {
    fault: 'prepare may not read submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Preparation/Prepare/Misconfigured': 8 },
    arrange: together(encodedFileAtFault, ill('prepare', { what: 'denied', port: 'submissions' })),
  },
  {
    fault: 'prepare cannot read submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'FanOut/Stalled': 9, 'Preparation/Prepare/DependencyFailures': 11 },
    arrange: together(encodedFiles(1), ill('prepare', { what: 'failing', port: 'submissions' })),
  },
  {
    fault: 'a defect of prepare finds no submissions',
    breaks: ['no defect'],
    lastsFor: 4,
    ...HIDDEN,
    rings: { 'Preparation/Prepare/UnexpectedErrors': 3, 'PrepareRequests/OldestMessageAge': 40 },
    arrange: together(encodedFileAtFault, ill('prepare', { what: 'defective', port: 'submissions' })),
  },
];
