import { formatOfContent } from '../files/format.ts';
import { HEAD_BYTES } from '../files/reader.ts';
import type { PreparedSource, Submission } from '../model.ts';
import { MESSAGE_VERSION, type FanOutMessage } from '../queues/messages.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { ObjectStore, ObjectWriter } from '../source/ports.ts';
import { asUnreadable, UnreadableSourceError } from '../source/unreadable-source.ts';
import { DependencyUnavailableError, LeaseLostError } from '../errors.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import {
  SLICE_DEFAULTS,
  headMissing,
  isPassing,
  newOwner,
  retryDelay,
  sendOne,
  sliceTimer,
  type SliceSettings,
  untilLeaseEnds,
} from '../submissions/slices.ts';
import type { Telemetry } from '../telemetry.ts';
import type { Clock, Random, TimeBudget } from '../time.ts';
import { wrappingOf } from './detect.ts';
import type { Conversion, Converter } from './ports.ts';

/*
 * A source that is no text in UTF-8 is unpacked or decoded before fan-out reads it, under the lease of fan-out, whose first step it is. It
 * is done in one invocation and from the beginning: docs/adr/0009-prepare-libraries.md has the arithmetic. What an attempt that died left behind is
 * an unfinished upload, or the object that the next attempt finds under its key.
 */

/** What does not differ between stages: a slice is as long as the invocation. */
export const PREPARE_DEFAULTS: SliceSettings = { ...SLICE_DEFAULTS, sliceMs: Infinity };

/** Part of the key of prepared objects: raised with every change by which a source is prepared to other bytes. */
const PREPARE_VERSION = 1;

/** Bytes of the text where terms do not say: the default of the limit for files. */
const DEFAULT_MAX_BYTES = 1024 ** 3;

export interface PrepareDeps {
  submissions: SubmissionStore;
  objects: ObjectStore;
  converter: Converter;
  prepareQueue: QueueSender;
  fanOutQueue: QueueSender;
  telemetry: Telemetry;
  clock: Clock;
  random: Random;
  settings: SliceSettings;
}

interface Claimed {
  deps: PrepareDeps;
  submission: Submission;
  owner: string;
  isOver: () => boolean;
}

export const preparedKey = ({ tenantId, submissionId }: Pick<Submission, 'tenantId' | 'submissionId'>): string =>
  `prepared/${tenantId}/${submissionId}/v${PREPARE_VERSION}`;

/**
 * Prepares the source of one submission, and hands it back to fan-out; a source that cannot be prepared ends the submission as rejected.
 *
 * Returns when the message can be acknowledged. Throws otherwise.
 */
export async function prepareSlice(deps: PrepareDeps, message: FanOutMessage, budget: TimeBudget): Promise<void> {
  const owner = newOwner(deps.random);
  const { submissionId } = message;
  let claimed: Claimed | undefined;
  try {
    const standing = await deps.submissions.get(submissionId);
    if (standing === undefined) throw headMissing(submissionId);
    // Fan-out has begun: this is a copy of a message that was worked.
    if (standing.lane !== undefined) return;
    const { leaseMs } = deps.settings;
    const claim = await deps.submissions.claimFanOut({ submissionId, owner, nowMs: deps.clock.now(), leaseMs });
    if (claim.outcome === 'missing') throw headMissing(submissionId);
    // The owner may be dead, and this may be its message, delivered again: it must outlive the lease.
    if (claim.outcome === 'busy') {
      await sendOne(deps.prepareQueue, message, untilLeaseEnds(claim.untilMs, deps.clock));
      return;
    }
    if (claim.outcome === 'claimed') {
      const isOver = sliceTimer(deps.clock, budget, deps.settings);
      claimed = { deps, submission: claim.submission, owner, isOver };
      await work(claimed);
    }
    // Fan-out reads what was prepared; of a submission that has ended it repeats what follows its end.
    await sendOne(deps.fanOutQueue, fanOutMessage(message));
  } catch (error) {
    if (!isPassing(error)) throw error;
    await giveBack(deps, message, claimed, error);
  }
}

const fanOutMessage = ({ submissionId, tenantId }: FanOutMessage): FanOutMessage => ({
  v: MESSAGE_VERSION,
  submissionId,
  tenantId,
});

async function work(claimed: Claimed): Promise<void> {
  const { deps, submission, owner } = claimed;
  const { submissionId, tenantId, prepared, stop, createdAtMs } = submission;
  if (prepared !== undefined || stop !== undefined) return release(claimed);
  try {
    const made = await prepare(claimed);
    if (made === undefined) return await release(claimed);
    await deps.submissions.setPrepared(submissionId, owner, made, deps.clock.now());
    const durationMs = deps.clock.now() - createdAtMs;
    const { kind: outcome } = made.from;
    const name = 'source_prepared';
    deps.telemetry.emit({
      name,
      level: 'info',
      submissionId,
      tenantId,
      outcome,
      count: made.source.sizeBytes,
      durationMs,
    });
  } catch (error) {
    const unreadable = asUnreadable(error);
    if (!(unreadable instanceof UnreadableSourceError)) throw error;
    const { code, message: detail } = unreadable;
    await deps.submissions.reject(submissionId, owner, { code, detail }, deps.clock.now());
  }
}

/** The prepared object; undefined when the submission was stopped meanwhile. */
async function prepare(claimed: Claimed): Promise<PreparedSource | undefined> {
  const { deps, submission } = claimed;
  const { source, terms } = submission;
  const wrapping = wrappingOf(await headOf(deps, submission), terms.reading?.charset);
  // A message by hand, or a newer version's: fan-out finds it out, too.
  if (wrapping === undefined) return undefined;
  const conversion = await deps.converter.convert({
    source,
    wrapping,
    charset: terms.reading?.charset,
    sheet: terms.reading?.sheet,
    maxBytes: terms.maxFileBytes ?? DEFAULT_MAX_BYTES,
  });
  const key = preparedKey(submission);
  const writer = deps.objects.writer(key, 'text/plain; charset=utf-8', { once: true });
  try {
    const copied = await copy(claimed, conversion, writer);
    if (copied === undefined) {
      await writer.abort();
      return undefined;
    }
    const info = await writer.close();
    return { source: { key, ...info }, format: copied, from: conversion.from };
  } catch (error) {
    await abandon(writer);
    throw error;
  }
}

/** Copies the text and answers its format; undefined when the submission was stopped meanwhile. */
async function copy(
  claimed: Claimed,
  { blocks, format: known }: Conversion,
  writer: ObjectWriter,
): Promise<PreparedSource['format'] | undefined> {
  const { deps, submission, isOver } = claimed;
  const { leaseMs } = deps.settings;
  let renewAtMs = deps.clock.now() + leaseMs / 4;
  // CSV is also the word for "nobody said": then the name in the archive counts, or the text.
  let format = submission.format === 'csv' || known === 'csv' ? known : submission.format;
  for await (const block of blocks) {
    format ??= formatOfContent(block);
    await writer.write(block);
    if (isOver())
      throw new DependencyUnavailableError(`Preparing ${submission.submissionId} takes longer than one invocation.`);
    if (deps.clock.now() < renewAtMs) continue;
    if ((await renew(claimed)).stop !== undefined) return undefined;
    renewAtMs = deps.clock.now() + leaseMs / 4;
  }
  return format ?? 'csv';
}

async function headOf({ objects }: PrepareDeps, { source }: Submission): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  if (source.sizeBytes === 0) return new Uint8Array();
  for await (const piece of await objects.read(source, 0)) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes >= HEAD_BYTES) break;
  }
  return Buffer.concat(pieces);
}

/** Nothing of the file has been read by fan-out: its place stays where it is. */
const NOWHERE = { byteOffset: 0, records: 0, line: 1 };

const renew = async ({ deps, submission, owner }: Claimed): Promise<Submission> =>
  deps.submissions.checkpointFanOut(submission.submissionId, owner, NOWHERE, {
    nowMs: deps.clock.now(),
    leaseMs: deps.settings.leaseMs,
  });

async function release({ deps, submission, owner }: Claimed): Promise<void> {
  await deps.submissions.checkpointFanOut(submission.submissionId, owner, NOWHERE, 'release');
}

/** Gives an upload up. Where that fails, too, the bucket's lifecycle removes it: the first error is the one to tell. */
async function abandon(writer: ObjectWriter): Promise<void> {
  try {
    await writer.abort();
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
}

/** After a failure that passes: another message, and the lease given up so that it need not wait for its end. */
async function giveBack(
  deps: PrepareDeps,
  message: FanOutMessage,
  claimed: Claimed | undefined,
  cause: Error,
): Promise<void> {
  const { submissionId, tenantId } = message;
  const released = claimed !== undefined && !(cause instanceof LeaseLostError) && (await isReleased(claimed));
  await sendOne(deps.prepareQueue, message, released ? retryDelay(cause, deps) : deps.settings.leaseMs);
  const outcome = cause.name;
  deps.telemetry.emit({ name: 'prepare_continued', level: 'warn', submissionId, tenantId, outcome, error: cause });
}

async function isReleased(claimed: Claimed): Promise<boolean> {
  try {
    await release(claimed);
    return true;
  } catch (error) {
    if (!isPassing(error)) throw error;
    return false;
  }
}
