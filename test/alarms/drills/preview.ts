import type { Drill } from '../drill.ts';
import { ill, manyPreviews, nearTimeout, together } from '../faults.ts';

/** Files that nobody can look at before they are submitted. */
export const PREVIEW_DRILLS: readonly Drill[] = [
  {
    fault: 'the preview function fails at its start',
    lastsFor: 8,
    rings: { 'Previews/Preview/Errors': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyPreviews, ill('preview', { what: 'broken' })),
  },
  {
    fault: 'the preview function is throttled',
    lastsFor: 8,
    rings: { 'Previews/Preview/Throttles': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyPreviews, ill('preview', { what: 'throttled' })),
  },
  {
    fault: 'previews nearly run out of time',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Previews/Preview/NearTimeout': 11 },
    arrange: together(manyPreviews, nearTimeout('preview')),
  },
  {
    fault: 'the preview function may not read the backlog',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Api/ServerErrors': 4, 'Previews/Preview/Misconfigured': 8 },
    arrange: together(manyPreviews, ill('preview', { what: 'denied', port: 'admission' })),
  },
  {
    fault: 'the preview function cannot read the backlog',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Api/ServerErrors': 4, 'Previews/Preview/DependencyFailures': 11 },
    arrange: together(manyPreviews, ill('preview', { what: 'failing', port: 'admission' })),
  },
  {
    fault: 'a defect of the preview function finds no backlog',
    breaks: ['no defect'],
    lastsFor: 8,
    silentWithin: 16,
    rings: { 'Previews/Preview/UnexpectedErrors': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyPreviews, ill('preview', { what: 'defective', port: 'admission' })),
  },
];
