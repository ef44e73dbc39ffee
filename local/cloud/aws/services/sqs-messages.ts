import { isRecord, textOf } from '../shapes.ts';

/** Limits of SQS that the emulator does not enforce. Source: Amazon SQS Developer Guide, "Message quotas". */
const MAX_DELAY_SECONDS = 900;
const MAX_ATTRIBUTES = 10;
const MESSAGE_GROUP_ID = /^[\x21-\x7e]{1,128}$/;

export interface MessageRefusal {
  readonly code: string;
  readonly message: string;
}

/** What SQS would say about a message, or about an entry of a batch, that it refuses; undefined when it takes it. */
export function checkMessage(message: Record<string, unknown>): MessageRefusal | undefined {
  const { DelaySeconds: delay, MessageBody: body, MessageGroupId: group } = message;
  if (typeof body !== 'string' || body === '') {
    return { code: 'MissingParameter', message: 'The request must contain the parameter MessageBody.' };
  }
  if (delay !== undefined && (!Number.isInteger(delay) || Number(delay) < 0 || Number(delay) > MAX_DELAY_SECONDS)) {
    return invalid(
      `Value ${textOf(delay)} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}.`,
    );
  }
  if (group !== undefined && (typeof group !== 'string' || !MESSAGE_GROUP_ID.test(group))) {
    return invalid(
      `Value ${textOf(group)} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
    );
  }
  return checkAttributes(message['MessageAttributes']);
}

function checkAttributes(attributes: unknown): MessageRefusal | undefined {
  if (!isRecord(attributes)) return undefined;
  const entries = Object.entries(attributes);
  if (entries.length > MAX_ATTRIBUTES) {
    return invalid(`Number of message attributes [${entries.length}] exceeds the allowed maximum [${MAX_ATTRIBUTES}].`);
  }
  for (const [name, attribute] of entries) {
    const value = isRecord(attribute) ? (attribute['StringValue'] ?? attribute['BinaryValue']) : undefined;
    if (value === undefined || value === '') {
      return invalid(`The message attribute '${name}' must contain a non-empty message attribute value.`);
    }
  }
  return undefined;
}

function invalid(message: string): MessageRefusal {
  return { code: 'InvalidParameterValue', message };
}
