import { SluiceError } from '../errors.ts';
import { notSent } from '../queues/not-sent.ts';
import { firstMessageEncoder, MESSAGE_VERSION, type RecordContent } from '../queues/messages.ts';
import { CHUNK_RECORDS, chunkOf, offsetOf, type ChunkStart, type Lane } from '../model.ts';
import type { OutgoingMessage, SendFailure } from '../queues/ports.ts';
import { createMapper } from '../profiles/mapping.ts';
import { contentOf, fittingContentOf, MAX_CONTENT_LENGTH, type ContentOptions } from '../records/content.ts';
import type { SourceItem } from '../source/source-reader.ts';
import type { Reading } from './beginning.ts';
import type { Claimed } from './deps.ts';
import { InFlight } from './in-flight.ts';

/** A send is begun at this length of its bodies, so that what is in flight stays small whatever the size of a record. */
const GROUP_LENGTH = 512 * 1024;

interface Prepared {
  item: SourceItem;
  body: string;
}

/** The chunk that is being sent, and what of it is in the ledger or on its way there. */
interface NotedChunk {
  start: ChunkStart & { chunk: number };
  noted?: { crc: number | undefined; written: Promise<void> } | undefined;
}

/** Sends the records of one submission: the start of a chunk is noted before any of its records is sent. */
export class ChunkSender {
  readonly #claimed: Claimed;
  readonly #lane: Lane;
  readonly #checksums: Reading['checksums'];
  readonly #inFlight: InFlight;
  readonly #contentOptions: ContentOptions;
  readonly #encodeFirst: ReturnType<typeof firstMessageEncoder>;
  #group: Prepared[] = [];
  #groupLength = 0;
  #chunk: NotedChunk | undefined;

  constructor(claimed: Claimed, { lane, checksums, dialect }: Pick<Reading, 'lane' | 'checksums' | 'dialect'>) {
    this.#claimed = claimed;
    this.#lane = lane;
    this.#checksums = checksums;
    this.#inFlight = new InFlight(claimed.deps.settings.sendsInFlight);
    const { submissionId, tenantId, generation, expiresAtSeconds, terms } = claimed.submission;
    this.#contentOptions = { mapper: terms.mapping && createMapper(terms.mapping), header: dialect?.header };
    this.#encodeFirst = firstMessageEncoder({
      v: MESSAGE_VERSION,
      submissionId,
      tenantId,
      lane,
      attempt: 1,
      generation,
      redrives: 0,
      expiresAtSeconds,
    });
  }

  /** Takes items in file order, beginning at the start of a chunk. Throws what an earlier send failed with. */
  async add(items: readonly SourceItem[]): Promise<void> {
    for (const item of items) {
      if (offsetOf(item.recordNo) === 0) {
        await this.#endChunk();
        const { recordNo, byteOffset, line } = item;
        this.#chunk = { start: { chunk: chunkOf(recordNo), byteOffset, line } };
      }
      const body = this.#bodyOf(item);
      this.#group.push({ item, body });
      this.#groupLength += body.length;
      if (this.#groupLength >= GROUP_LENGTH || this.#group.length >= CHUNK_RECORDS) await this.#flush();
    }
  }

  /** Resolves when everything that was added is sent; throws when something could not be. */
  async settle(): Promise<void> {
    await this.#endChunk();
    await this.#inFlight.settle();
  }

  /** Waits for the sends under way and gives up the rest. */
  async drain(): Promise<void> {
    this.#group = [];
    await this.#inFlight.drain();
  }

  /** Sends what is left of a chunk, and notes its checksum where the chunk was too long to know it at its first message. */
  async #endChunk(): Promise<void> {
    await this.#flush();
    const chunk = this.#chunk;
    if (chunk?.noted === undefined || chunk.noted.crc === this.#checksums.get(chunk.start.chunk)) return;
    chunk.noted = undefined;
    await this.#inFlight.start(async () => this.#note(chunk));
  }

  async #note(chunk: NotedChunk): Promise<void> {
    const { deps, submission } = this.#claimed;
    const crc = this.#checksums.get(chunk.start.chunk);
    chunk.noted ??= {
      crc,
      written: deps.ledger.noteStarts(
        submission.submissionId,
        [{ ...chunk.start, ...(crc !== undefined && { crc }) }],
        submission.expiresAtSeconds,
      ),
    };
    await chunk.noted.written;
  }

  async #flush(): Promise<void> {
    if (this.#group.length === 0) return;
    const group = this.#group;
    const chunk = this.#chunk;
    this.#group = [];
    this.#groupLength = 0;
    await this.#inFlight.start(async () => {
      if (chunk) await this.#note(chunk);
      await this.#send(group);
    });
  }

  async #send(group: readonly Prepared[]): Promise<void> {
    const queue = this.#claimed.deps.lanes[this.#lane];
    const failures = await queue.send(group.map(({ body }) => this.#messageOf(body)));
    if (failures.length === 0) return;
    requireSent(failures.filter((failure) => !failure.senderFault));
    // The queue will never take these: what can be said about each of them takes its place.
    const refused = failures.map((failure) => {
      const prepared = group[failure.index];
      if (!prepared) throw new SluiceError(`The queue reports message ${failure.index} of ${group.length}.`);
      return this.#messageOf(this.#encode(prepared.item, refusedContent(prepared.item, failure)));
    });
    requireSent(await queue.send(refused));
  }

  #messageOf(body: string): OutgoingMessage {
    return { body, group: this.#claimed.submission.tenantId };
  }

  #bodyOf(item: SourceItem): string {
    const body = this.#encode(item, contentOf(item, this.#contentOptions));
    return body.length <= MAX_CONTENT_LENGTH ? body : this.#encode(item, fittingContentOf(item, this.#contentOptions));
  }

  #encode({ recordNo, line }: SourceItem, content: RecordContent): string {
    return this.#encodeFirst({ recordNo, line, firstEnqueuedAtMs: this.#claimed.deps.clock.now(), content });
  }
}

const refusedContent = (item: SourceItem, { code }: SendFailure): RecordContent => ({
  kind: 'defect',
  reason: 'malformed_row',
  defect: 'UNSENDABLE',
  detail: `The record that begins on line ${item.line} cannot be queued (${code}). Look for unusual characters in it.`,
});

/** Throws for messages that were not sent: retryable, unless the queue refuses them for good. */
function requireSent(failures: readonly SendFailure[]): void {
  const failure = failures[0];
  if (!failure) return;
  const error = notSent(`${failures.length} record messages were`, failure);
  throw failures.some(({ senderFault }) => senderFault) ? new SluiceError(error.message) : error;
}
