import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import type { Blocks } from './blocks.ts';

export interface XmlHandlers {
  /** Names come without their namespace's prefix. */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
}

/** Longer texts are no cell's, which has 32,767 characters at the most: they are made to fill the memory. */
const MAX_TEXT_LENGTH = 4 * 1024 * 1024;

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/**
 * Parses a part of a workbook, calls the handlers, and yields after every block, so that what they collected can be taken. Entities other
 * than XML's own are unknown to it. Throws {@link UnreadableSourceError} for what is no XML.
 */
export async function* parseXml(blocks: Blocks, handlers: XmlHandlers): AsyncGenerator<void> {
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser();
  let sinceTag = 0;
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    handlers.open(localName(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    handlers.close(localName(name));
  });
  parser.on('text', (text) => handlers.text(text));
  parser.on('cdata', (text) => handlers.text(text));
  parser.on('error', (cause) => {
    throw damagedWorkbook('is no well-formed XML', cause);
  });
  const decoder = new TextDecoder();
  const write = (text: string): void => {
    sinceTag += text.length;
    parser.write(text);
    if (sinceTag > MAX_TEXT_LENGTH) throw damagedWorkbook('has a text of millions of characters');
  };
  for await (const block of blocks) {
    write(decoder.decode(block, { stream: true }));
    yield;
  }
  write(decoder.decode());
  parser.close();
  yield;
}

export const damagedWorkbook = (what: string, cause?: unknown): UnreadableSourceError =>
  new UnreadableSourceError(
    'DAMAGED_FILE',
    `The workbook ${what}. Open it in a spreadsheet program, save it as .xlsx and submit it again.`,
    { cause },
  );
