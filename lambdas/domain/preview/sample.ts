import { isUtf8 } from 'node:buffer';
import { formatOfContent } from '../files/format.ts';
import { HEAD_BYTES, type FileFormat } from '../files/reader.ts';
import type { SourceObject } from '../model.ts';
import { wrappingOf } from '../prepare/detect.ts';
import type { Converter, PreparedFrom } from '../prepare/ports.ts';
import type { ObjectStore } from '../source/ports.ts';

/** Bytes of text that a preview looks at: a thousand records of ordinary size. */
const SAMPLE_BYTES = 2 * 1024 * 1024;
/** Bytes of text that are unpacked at most: what a preview does not read need not be bounded by the limit for files. */
const MAX_UNPACKED_BYTES = 1024 ** 3;

/** The beginning of a file, as text in UTF-8. */
export interface Sample {
  bytes: Uint8Array;
  /** Whether it is all of the text. */
  complete: boolean;
  format: FileFormat;
  /** Present where the file has to be unpacked or decoded. */
  from?: PreparedFrom;
}

export interface SampleDeps {
  objects: Pick<ObjectStore, 'read'>;
  converter: Converter;
  /** Called between two blocks: throws when there is no time left. */
  checkTime: () => void;
}

export interface SampleRequest {
  source: SourceObject;
  /** By what the customer says, the file's name, or its first bytes. */
  formatOf: (head: Uint8Array) => FileFormat;
  charset?: string | undefined;
  sheet?: string | undefined;
}

/**
 * Reads the beginning of a file, and unpacks or decodes as much of it.
 *
 * @throws UnreadableSourceError for what cannot be prepared, and what {@link ObjectStore.read} throws
 */
export async function readSample(deps: SampleDeps, request: SampleRequest): Promise<Sample> {
  const { source, formatOf, charset, sheet } = request;
  const plain = source.sizeBytes === 0 ? new Uint8Array() : await beginning(deps, await deps.objects.read(source, 0));
  const wrapping = wrappingOf(plain.subarray(0, HEAD_BYTES), charset);
  const announced = formatOf(plain);
  if (wrapping === undefined) {
    return { bytes: plain, complete: plain.byteLength >= source.sizeBytes, format: announced };
  }
  const { blocks, format, from } = await deps.converter.convert({
    source,
    wrapping,
    charset,
    sheet,
    maxBytes: MAX_UNPACKED_BYTES,
  });
  const bytes = await beginning(deps, blocks);
  // CSV is also the word for "nobody said", as where a file is prepared.
  const said = announced === 'csv' || format === 'csv' ? format : announced;
  return { bytes, complete: bytes.byteLength < SAMPLE_BYTES, format: said ?? formatOfContent(bytes), from };
}

/** At least {@link SAMPLE_BYTES} where there are so many. What is behind them is not fetched. */
async function beginning({ checkTime }: SampleDeps, blocks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of blocks) {
    checkTime();
    pieces.push(block);
    bytes += block.byteLength;
    if (bytes >= SAMPLE_BYTES) break;
  }
  return Buffer.concat(pieces);
}

const LINE_FEED = 0x0a;

/** Whether the text is UTF-8. What was cut is looked at as far as its last line ends. */
export function isText({ bytes, complete }: Sample): boolean {
  if (complete) return isUtf8(bytes);
  return isUtf8(bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1));
}

/** Character sets that are tried, most frequent first. Those with several bytes a letter are told by what they cannot decode. */
const TRIED = ['shift_jis', 'gbk', 'euc-kr', 'big5', 'windows-1252', 'macintosh', 'windows-1251', 'koi8-r'] as const;
/** With a letter of several bytes nearly every sequence must be one. */
const OF_SEVERAL_BYTES: ReadonlySet<string> = new Set(['shift_jis', 'gbk', 'euc-kr', 'big5']);

/** The character set in which the text looks most like words; undefined where none does. It is a guess. */
export function guessCharset({ bytes }: Sample): string | undefined {
  const scored = TRIED.map((charset) => ({ charset, score: scoreOf(bytes, charset) }));
  const best = scored.toSorted((a, b) => b.score - a.score)[0];
  return best !== undefined && best.score > 0 ? best.charset : undefined;
}

/** Share of the characters beyond ASCII that are letters beside letters of their own kind. */
function scoreOf(bytes: Uint8Array, charset: string): number {
  let text: string;
  try {
    text = new TextDecoder(charset, { fatal: OF_SEVERAL_BYTES.has(charset) }).decode(bytes);
  } catch {
    return 0;
  }
  const beyond = [...text.matchAll(/[^\p{ASCII}]/gu)].length;
  if (beyond === 0) return 0;
  const ideographs = [...text.matchAll(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{2,}/gu)].join(
    '',
  ).length;
  const kana = /[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text);
  if (OF_SEVERAL_BYTES.has(charset)) {
    // Kana are found in Japanese only, and half-width ones in texts that are something else.
    if (charset === 'shift_jis' && (!kana || /[\uFF61-\uFF9F]/u.test(text))) return 0;
    return ideographs / beyond;
  }
  const latin = [...text.matchAll(/(?<=\p{L})[à-ÿß](?=\p{L}|\b)|(?<![^\p{ASCII}])[À-Þ](?=[a-z])/gu)].length;
  const cyrillic = [...text.matchAll(/(?<=[А-яЁё])[а-яё]/gu)].length;
  return Math.max(latin, cyrillic) / beyond;
}
