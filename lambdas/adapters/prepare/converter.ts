import { formatOfName } from '../../domain/files/format.ts';
import { quoteName } from '../../domain/files/details.ts';
import { wrappingOf } from '../../domain/prepare/detect.ts';
import type { Conversion, ConversionRequest, Converter, PreparedFrom } from '../../domain/prepare/ports.ts';
import { sheetCsv } from '../../domain/prepare/sheet-csv.ts';
import type { ObjectStore } from '../../domain/source/ports.ts';
import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import { atMost } from '../../domain/prepare/bounds.ts';
import { peek, type Blocks } from './blocks.ts';
import { decodeText } from './charset.ts';
import { gunzip } from './inflate.ts';
import { sheetRows } from './sheet-rows.ts';
import { openWorkbook, WORKBOOK_PART } from './workbook.ts';
import { membersOf, type Member } from './zip.ts';

/**
 * Bytes of the XML of one sheet, or of its shared texts. A core parses 15 MB a second, a function with 1 GiB of memory has 0.58 of
 * one, https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html: both take four minutes.
 */
const MAX_XML_BYTES = 1024 ** 3;

/** Enough to know any file by. */
const HEAD_BYTES = 64 * 1024;

/** Members of an archive that are looked at: no workbook has so many, and the directory of these is read by a few requests. */
const MAX_PARTS = 10_000;

/** What packing programs add of their own. */
const BY_PACKERS = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/** Unpacks and decodes with `node:zlib` and libraries, each loaded when the first file needs it. */
export function createConverter(objects: Pick<ObjectStore, 'read'>): Converter {
  return {
    async convert(request) {
      const { source, wrapping } = request;
      if (wrapping.kind === 'zip') return fromArchive(objects, request);
      const blocks = await objects.read(source, 0);
      if (wrapping.kind === 'gzip') return asText(gunzip(blocks), { kind: 'gzip' }, request);
      const from: PreparedFrom = { kind: 'text', charset: wrapping.charset };
      return { from, blocks: atMost(decodeText(blocks, wrapping.charset), request.maxBytes) };
    },
  };
}

/** What was unpacked: text in UTF-8 as it is, other text decoded. */
async function asText(blocks: Blocks, from: PreparedFrom, request: ConversionRequest): Promise<Conversion> {
  const { head, all } = await peek(blocks, HEAD_BYTES);
  const wrapping = wrappingOf(head, request.charset);
  if (wrapping !== undefined && wrapping.kind !== 'charset') {
    throw new UnreadableSourceError(
      'UNSUPPORTED_CONTAINER',
      'The compressed file holds another compressed file or a workbook. Unpack it once and submit what is in it.',
    );
  }
  if (wrapping === undefined) return { from, blocks: atMost(all, request.maxBytes) };
  const text = decodeText(all, wrapping.charset);
  return { from: { ...from, charset: wrapping.charset }, blocks: atMost(text, request.maxBytes) };
}

async function fromArchive(objects: Pick<ObjectStore, 'read'>, request: ConversionRequest): Promise<Conversion> {
  const found: Member[] = [];
  for await (const member of membersOf(objects, request.source)) {
    if (!BY_PACKERS.test(member.name)) found.push(member);
    if (found.length > MAX_PARTS) break;
  }
  const parts = new Map(found.map((member) => [member.name, member]));
  if (parts.has(WORKBOOK_PART)) return fromWorkbook(parts, request);
  const [member] = found;
  if (parts.has('[Content_Types].xml') || parts.has('mimetype')) throw otherDocument();
  if (member === undefined || found.length > 1) throw severalMembers(found);
  const conversion = await asText(await member.read(), { kind: 'zip', member: member.name }, request);
  const format = formatOfName(member.name);
  return format === undefined ? conversion : { ...conversion, format };
}

async function fromWorkbook(parts: ReadonlyMap<string, Member>, request: ConversionRequest): Promise<Conversion> {
  const workbook = await openWorkbook(parts, { sheet: request.sheet, maxBytes: MAX_XML_BYTES });
  const text = sheetCsv(sheetRows(workbook, MAX_XML_BYTES));
  return {
    from: { kind: 'xlsx', sheet: workbook.sheet.name },
    format: 'csv',
    blocks: atMost(text, request.maxBytes, 'The sheet'),
  };
}

const otherDocument = (): UnreadableSourceError =>
  new UnreadableSourceError(
    'UNSUPPORTED_CONTAINER',
    'The file is a document of another kind than .xlsx (.xlsb, .ods, .docx). Save the sheet as .xlsx, or as CSV in UTF-8, and submit that file.',
  );

const severalMembers = (found: readonly Member[]): UnreadableSourceError =>
  new UnreadableSourceError(
    'ZIP_MEMBERS',
    found.length === 0
      ? 'The archive is empty. Pack the file with the records and submit it again.'
      : `The archive has more than one file, ${found
          .slice(0, 2)
          .map(({ name }) => quoteName(name))
          .join(', ')} among them. Pack one file, and submit each on its own.`,
  );
