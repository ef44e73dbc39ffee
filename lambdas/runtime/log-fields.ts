import { DependencyMisconfiguredError, SluiceError } from '../domain/errors.ts';
import type { DomainEvent, EventFields } from '../domain/telemetry.ts';
import { framesOf } from './sanitize-error.ts';

/** The fields of a log line, in this order: nothing else of an event is ever written, above all no record content. */
const ALLOWED = [
  'submissionId',
  'tenantId',
  'recordNo',
  'attempt',
  'generation',
  'lane',
  'provider',
  'outcome',
  'reason',
  'detail',
  'count',
  'durationMs',
  'ageMs',
] as const satisfies readonly (keyof EventFields)[];

const MAX_TEXT_LENGTH = 500;
const MAX_STACK_FRAMES = 12;

export type LogFields = Record<string, unknown>;

/** The allow-listed fields of an event, and its error without what it might quote. */
export function logFields(event: DomainEvent): LogFields {
  const fields: LogFields = {};
  for (const name of ALLOWED) {
    const value = event[name];
    if (value !== undefined) fields[name] = typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : value;
  }
  return event.error === undefined ? fields : { ...fields, failure: describeError(event.error) };
}

/**
 * Name, code and stack frames of an error and of its causes. The words of an error that is not ours are left out: a parser
 * quotes what it could not read, and that may be a customer's data.
 */
function describeError(error: unknown, depth = 0): LogFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const described: LogFields = { name: error.name };
  if (error instanceof SluiceError) described['message'] = error.message.slice(0, MAX_TEXT_LENGTH);
  if (error instanceof DependencyMisconfiguredError) {
    described['action'] = error.action;
    described['resource'] = error.resource;
  }
  if ('code' in error && typeof error.code === 'string') described['code'] = error.code;
  // One stack tells the place; those of causes are mostly inside libraries.
  if (depth === 0) described['stack'] = framesOf(error).slice(0, MAX_STACK_FRAMES);
  if (error.cause !== undefined && depth < 3) described['cause'] = describeError(error.cause, depth + 1);
  return described;
}
