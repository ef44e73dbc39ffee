import { encoded, gzipped, textRow, workbook, zipped } from '../../support/prepare/files.ts';
import { ACME, CAFE, crlf, lines, MUELLER, type CorpusFile } from './corpus.ts';

const GERMAN = crlf(
  'record_id;Name;domain;country;postal_code',
  'C-1001;Müller;mueller.example;DE;01067',
  'C-1002;Acme;acme.example;US;02134',
  'C-1003;Café;cafe-ete.example;FR;75001',
);
const COMMAS = GERMAN.replaceAll(';', ',');
const TABS = GERMAN.replaceAll(';', '\t');
const rows = (first: number, ...all: string[][]): string =>
  all.map((cells, index) => textRow(first + index, ...cells)).join('');
const TABLE = GERMAN.trimEnd()
  .split('\r\n')
  .map((line) => line.split(';'));

/** Spreadsheets in three locales, as text and as workbooks. */
export const SPREADSHEETS: readonly CorpusFile[] = [
  { name: 'excel-de.csv', of: 'Excel in German, UTF-8', bytes: `\uFEFF${GERMAN}` },
  {
    name: 'excel-de-ansi.csv',
    of: 'Excel in German, as it saves by default',
    bytes: encoded(GERMAN, 'windows-1252'),
    profile: { reading: { encoding: 'windows-1252' } },
  },
  { name: 'excel-us.csv', of: 'Excel in English', bytes: COMMAS },
  {
    name: 'excel-fr-mac.csv',
    of: 'Excel in French on a Mac',
    bytes: encoded(GERMAN.replaceAll('\r\n', '\r'), 'macintosh'),
    profile: { reading: { encoding: 'macintosh' } },
  },
  { name: 'excel-unicode.txt', of: 'Excel, "Unicode text"', bytes: encoded(TABS, 'utf-16le', { addBOM: true }) },
  { name: 'excel-sep.csv', of: 'Excel, with a line that names the delimiter', bytes: `sep=;\r\n${GERMAN}` },
  { name: 'sheets.tsv', of: 'an online spreadsheet', bytes: TABS.replaceAll('\r\n', '\n') },
  {
    name: 'libreoffice.csv',
    of: 'LibreOffice with apostrophes around texts',
    bytes: lines(
      "'record_id','domain','country','postal_code'",
      "'C-1001','mueller.example','DE','01067'",
      "'C-1002','acme.example','US','02134'",
      "'C-1003','cafe-ete.example','FR','75001'",
    ),
    profile: { reading: { quote: "'" } },
  },
  {
    name: 'excel-empty-rows.csv',
    of: 'Excel, cleared rows and columns below and beside the table',
    bytes: `${crlf('record_id;domain;country;postal_code;;', 'C-1001;mueller.example;DE;01067;;', ';;;;;', 'C-1002;acme.example;US;02134;;', 'C-1003;cafe-ete.example;FR;75001;;')}${';;;;;\r\n'.repeat(50)}`,
  },
  {
    name: 'excel-lost-zeros.csv',
    of: 'Excel, which took postal codes for numbers',
    bytes: crlf(
      'record_id,domain,country,postal_code',
      'C-1001,mueller.example,DE,1067',
      'C-1002,acme.example,US,2134.0',
      'C-1003,cafe-ete.example,FR,75001',
    ),
    profile: { normalise: { postal_code: ['trim', 'postal_code'] } },
  },
  {
    name: 'excel-title.csv',
    of: 'Excel, a report with a title, a date and a total',
    bytes: crlf(
      'Customers;;;',
      'As of 01.05.2024;;;',
      ';;;',
      'record_id;domain;country;postal_code',
      'C-1001;mueller.example;DE;01067',
      'C-1002;acme.example;US;02134',
      'C-1003;cafe-ete.example;FR;75001',
      'Total;3;;',
    ),
    profile: { reading: { skipRowsAtEnd: 1 } },
  },
  {
    name: 'excel-blanks.csv',
    of: 'a table that was pasted from a web page',
    bytes: lines(
      'record_id,domain,country,postal_code',
      'C-1001,\u00A0mueller.example\u00A0,DE ,01067',
      'C-1002,acme.example\u200B,\tUS,02134',
      'C-1003, cafe-ete.example,FR,75001 ',
    ),
  },
  {
    name: 'excel-short-rows.csv',
    of: 'a macro that drops empty cells at the end',
    bytes: lines(
      'record_id,domain,country,postal_code,note',
      'C-1001,mueller.example,DE,01067',
      'C-1002,acme.example,US,02134,x',
      'C-1003,cafe-ete.example,FR,75001',
    ),
    profile: { reading: { shortRows: 'fill' } },
  },
  {
    name: 'excel-short-rows-refused.csv',
    of: 'the same without a profile',
    bytes: lines('record_id,domain,note', 'C-1001,mueller.example', 'C-1002,acme.example,x'),
    records: [{ record_id: 'C-1002' }],
    failed: [[1, 2, 'malformed_row', 'the header has 3']],
  },
  { name: 'book.xlsx', of: 'a workbook', bytes: workbook({ sheets: { Customers: rows(1, ...TABLE) } }) },
  {
    name: 'book-title.xlsx',
    of: 'a workbook with a title above the table',
    bytes: workbook({ sheets: { Customers: rows(1, ['Customers of 2024']) + rows(4, ...TABLE) } }),
  },
  {
    name: 'book-sheet.xlsx',
    of: 'a workbook whose second sheet is meant',
    bytes: workbook({ sheets: { Read: rows(1, ['me']), Data: rows(1, ...TABLE) } }),
    profile: { reading: { sheet: 'Data' } },
  },
  {
    name: 'book-delimiter.xlsx',
    of: 'a workbook, with a profile that was written for text',
    bytes: workbook({ sheets: { Data: rows(1, ...TABLE) } }),
    profile: { reading: { delimiter: ';', escape: '\\' } },
  },
  {
    name: 'book-missing-sheet.xlsx',
    of: 'a workbook without the sheet',
    bytes: workbook({ sheets: { Data: rows(1, ...TABLE) } }),
    profile: { reading: { sheet: 'Customers' } },
    rejected: ['SHEET_MISSING', 'Customers'],
  },
  { name: 'excel-de.csv.gz', of: 'a nightly job', bytes: gzipped(GERMAN) },
  { name: 'excel-de.zip', of: 'a mail attachment', bytes: zipped({ 'list.csv': GERMAN }) },
  {
    name: 'two-lists.csv',
    of: 'two exports, joined by a shell',
    bytes: `\uFEFF${GERMAN}\uFEFF${GERMAN}`,
    records: [MUELLER, ACME, CAFE, MUELLER, ACME, CAFE],
    failed: [[4, 5, 'malformed_row', 'repeats the header']],
  },
  {
    name: 'two-lists-once.csv',
    of: 'the same, with a profile that wants each record once',
    bytes: `${GERMAN}${GERMAN}`,
    profile: { duplicates: 'reject_later' },
    failed: [
      [4, 5, 'malformed_row', 'repeats the header'],
      [5, 6, 'duplicate_record_id', 'line 2'],
      [6, 7, 'duplicate_record_id', 'line 3'],
      [7, 8, 'duplicate_record_id', 'line 4'],
    ],
  },
  {
    name: 'international.csv',
    of: 'a list of hosts and addresses in other scripts',
    bytes: lines(
      'record_id,domain,email',
      '1,müller.example,info@müller.example',
      '2,उदाहरण.भारत,a@b.example',
      '3,ตัวอย่าง.ไทย,not an address',
      '4,my_host.example,',
    ),
    records: [
      { domain: 'müller.example' },
      { domain: 'उदाहरण.भारत' },
      { domain: 'ตัวอย่าง.ไทย' },
      { domain: 'my_host.example' },
    ],
  },
];
