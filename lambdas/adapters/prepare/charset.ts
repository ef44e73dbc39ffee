import { CHARSETS } from '../../domain/prepare/charsets.ts';
import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import type { Blocks } from './blocks.ts';

const LINE_END = /\r\n|\r|\n/g;

/**
 * Decodes text to UTF-8. Throws {@link UnreadableSourceError} at a byte that the character set does not have: a replaced character would
 * be lost without a word. GB 18030 can write the replacement character itself; there one in the file is refused like a wrong byte.
 */
export async function* decodeText(blocks: Blocks, charset: string): AsyncGenerator<Uint8Array> {
  const { default: iconv } = await import('iconv-lite');
  const decoder = iconv.getDecoder(charset);
  let line = 1;
  const checked = (text: string): Uint8Array => {
    const wrong = text.search(/[\uFFFD\0]/);
    if (wrong !== -1) throw notInCharset(charset, line + countLines(text.slice(0, wrong)));
    line += countLines(text);
    return Buffer.from(text);
  };
  for await (const block of blocks) {
    const text = decoder.write(Buffer.from(block.buffer, block.byteOffset, block.byteLength));
    if (text !== '') yield checked(text);
  }
  const rest = decoder.end();
  if (rest !== undefined && rest !== '') yield checked(rest);
}

const countLines = (text: string): number => text.match(LINE_END)?.length ?? 0;

const notInCharset = (charset: string, line: number): UnreadableSourceError =>
  new UnreadableSourceError(
    'CHARSET_MISMATCH',
    `Line ${line} of the file has bytes that are no text in ${charset}. Save the file as UTF-8, or declare the character set that it has, one of ${CHARSETS.join(', ')}.`,
    { line },
  );
