import * as v from 'valibot';
import { PREPARED_KINDS } from '../prepare/ports.ts';
import { profileSchema } from '../profiles/profile.ts';
import { described, submissionRequestSchema } from './schemas.ts';

/* The bodies of POST /v1/previews. */

const { uploadId, format, profile } = submissionRequestSchema.entries;

export const previewRequestSchema = v.strictObject({ uploadId, format, profile });

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const fields = v.record(v.string(), v.unknown());

const faultSchema = v.object({
  field: v.exactOptional(described(v.string(), 'Absent where the row is no record.')),
  defect: v.exactOptional(described(v.string(), 'Code of a row that is no record.')),
  detail: v.string(),
  count,
  lines: described(v.array(count), 'Of the first of them.'),
  examples: v.exactOptional(described(v.array(v.string()), 'Values of the field there, shortened.')),
});

const forecastSchema = v.object({
  refused: v.exactOptional(
    described(
      v.object({ code: v.string(), detail: v.string(), line: v.exactOptional(count) }),
      'Present where the file would be rejected: the `reason` and `message` of the submission.',
    ),
  ),
  examined: v.exactOptional(described(count, 'Records that were looked at: at most the first 1,000.')),
  valid: v.exactOptional(count),
  invalid: v.exactOptional(count),
  faults: v.exactOptional(described(v.array(faultSchema), 'Why records would fail, most frequent first.')),
  warnings: v.exactOptional(
    described(v.array(faultSchema), 'Wrong fields that nothing looks up by: their records are worked all the same.'),
  ),
  records: v.exactOptional(
    described(
      v.array(
        v.object({
          recordNo: count,
          line: count,
          record: v.exactOptional(described(fields, 'As it was sent.')),
          used: v.exactOptional(described(fields, 'What is checked and looked up, where it is not what was sent.')),
          problems: v.exactOptional(v.array(v.string())),
        }),
      ),
      'The first records, at most 20.',
    ),
  ),
});

export const previewSchema = v.object({
  uploadId: v.string(),
  format: v.string(),
  preparedFrom: v.exactOptional(
    described(
      v.object({
        kind: described(v.string(), `${PREPARED_KINDS.join(', ')}; new ones may be added.`),
        member: v.exactOptional(v.string()),
        sheet: v.exactOptional(v.string()),
        charset: v.exactOptional(v.string()),
      }),
      'Present where the file will be unpacked or decoded before its records are read.',
    ),
  ),
  delimiter: v.exactOptional(v.string()),
  headerLine: v.exactOptional(count),
  columns: described(v.array(v.string()), 'Names of the columns, in order; at most 500.'),
  asGiven: described(forecastSchema, 'What becomes of the file with the profile of the request, or with none.'),
  asProposed: v.exactOptional(
    described(
      v.object({ ...forecastSchema.entries, profile: profileSchema }),
      'The same with `profile`: that of the request with every suggestion applied.',
    ),
  ),
  suggestions: described(
    v.array(v.object({ detail: v.string(), profile: profileSchema })),
    'What would help, each with the part of a profile that does it.',
  ),
  questions: described(
    v.array(
      v.object({
        field: v.exactOptional(v.string()),
        detail: v.string(),
        candidates: v.exactOptional(described(v.array(v.string()), 'Columns that may be meant.')),
      }),
    ),
    'What only the customer knows.',
  ),
  estimate: v.exactOptional(
    described(
      v.object({
        records: count,
        isCounted: described(v.boolean(), 'False where the number is estimated by the size of what was read.'),
        calls: described(v.record(v.string(), count), 'Calls of each provider, at most.'),
        cost: v.exactOptional(
          described(
            v.pipe(v.number(), v.minValue(0)),
            'What the calls cost at most. Absent where no call has a price.',
          ),
        ),
        completionAt: described(v.pipe(v.string(), v.isoTimestamp()), 'If it is submitted now.'),
      }),
      'Of the whole file with the proposed profile. Absent where the size of an unpacked file is not known.',
    ),
  ),
});

export type PreviewView = v.InferOutput<typeof previewSchema>;
