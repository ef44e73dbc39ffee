import { encodeBody, type RecordContent } from '../queues/messages.ts';
import type { SourceItem } from '../source/source-reader.ts';

/**
 * Longest serialized record that a message carries. SQS takes 1 MiB (1,048,576 bytes, attributes included,
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html); the rest is for ids and for
 * the providers' answers that the message collects on its way.
 */
export const MAX_CONTENT_LENGTH = 786_432;

/** What the message of a record carries. A record that no message can carry is a defect, whoever builds the message. */
export function contentOf(item: SourceItem): RecordContent {
  if (item.kind === 'defect') {
    const { kind, reason, defect, detail } = item;
    return { kind, reason, defect, detail };
  }
  return { kind: 'record', fields: item.fields };
}

/** {@link contentOf}, checked against {@link MAX_CONTENT_LENGTH}. */
export function fittingContentOf(item: SourceItem): RecordContent {
  const content = contentOf(item);
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
