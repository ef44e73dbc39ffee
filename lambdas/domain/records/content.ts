import { encodeBody, type RecordContent } from '../queues/messages.ts';
import type { Mapper } from '../profiles/mapping.ts';
import type { SourceItem } from '../source/source-reader.ts';

/**
 * Longest serialized record that a message carries. SQS takes 1 MiB (1,048,576 bytes, attributes included,
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html); the rest is for ids and for
 * the providers' answers that the message collects on its way.
 */
export const MAX_CONTENT_LENGTH = 786_432;

/** The fields that a record is checked and looked up by; none of a row that is no record. */
export const usedFieldsOf = (content: RecordContent): Readonly<Record<string, unknown>> | undefined => {
  if (content.kind === 'mapped') return content.used;
  return content.kind === 'record' ? content.fields : undefined;
};

/** How the items of a submission become content. */
export interface ContentOptions {
  /** Absent for files that were accepted before there were mappings. */
  mapper?: Mapper | undefined;
  /** Names of the columns of a CSV file. */
  header?: readonly string[] | undefined;
}

/** What the message of a record carries. A record that no message can carry is a defect, whoever builds the message. */
export function contentOf(item: SourceItem, { mapper, header }: ContentOptions): RecordContent {
  if (item.kind === 'defect') {
    const { kind, reason, defect, detail } = item;
    return { kind, reason, defect, detail };
  }
  const used = mapper?.(item.fields, item.recordNo, header);
  return used ? { kind: 'mapped', fields: item.fields, used } : { kind: 'record', fields: item.fields };
}

/** {@link contentOf}, checked against {@link MAX_CONTENT_LENGTH}. */
export function fittingContentOf(item: SourceItem, options: ContentOptions): RecordContent {
  const content = contentOf(item, options);
  const length = encodeBody(content).length;
  if (length <= MAX_CONTENT_LENGTH) return content;
  return {
    kind: 'defect',
    reason: 'record_too_large',
    defect: 'RECORD_TOO_LARGE',
    detail:
      `The record that begins on line ${item.line} takes ${length} bytes as JSON with its column names; ` +
      `at most ${MAX_CONTENT_LENGTH} are accepted. Shorten it or its column names.`,
  };
}
