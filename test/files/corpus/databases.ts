import { encoded } from '../../support/prepare/files.ts';
import { lines, type CorpusFile } from './corpus.ts';

const OBJECTS = [
  '{"record_id":"C-1001","domain":"mueller.example","country":"DE","postal_code":"01067"}',
  '{"record_id":"C-1002","domain":"acme.example","country":"US","postal_code":"02134"}',
  '{"record_id":"C-1003","domain":"cafe-ete.example","country":"FR","postal_code":"75001"}',
];
const ROWS = ['C-1001,mueller.example,DE,01067', 'C-1002,acme.example,US,02134', 'C-1003,cafe-ete.example,FR,75001'];

/** Databases, log tools and programs. */
export const DATABASES: readonly CorpusFile[] = [
  {
    name: 'postgres.csv',
    of: 'COPY … CSV HEADER',
    bytes: lines(
      'record_id,name,domain,country,postal_code',
      'C-1001,"Müller, ""Söhne""",mueller.example,DE,01067',
      'C-1002,,acme.example,US,02134',
      'C-1003,"two\nlines",cafe-ete.example,FR,75001',
    ),
  },
  {
    name: 'postgres-text.tsv',
    of: 'COPY in its text format',
    bytes: lines(
      'C-1001\tmueller.example\tDE\t01067\t\\N',
      'C-1002\tacme.example\tUS\t02134\tx',
      'C-1003\tcafe-ete.example\tFR\t75001\t\\N',
    ),
    profile: {
      reading: { headerRow: 0, delimiter: '\t', quote: '', nullTexts: ['\\N'] },
      columns: {
        record_id: { position: 1 },
        domain: { position: 2 },
        country: { position: 3 },
        postal_code: { position: 4 },
      },
    },
  },
  {
    name: 'mysql.csv',
    of: 'SELECT … INTO OUTFILE, with backslashes',
    bytes: lines(
      '"record_id","name","domain","country","postal_code"',
      '"C-1001","6\\" pipes","mueller.example","DE","01067"',
      '"C-1002","back\\\\slash","acme.example","US","02134"',
      '"C-1003",\\N,"cafe-ete.example","FR","75001"',
    ),
    profile: { reading: { nullTexts: ['\\N'] } },
  },
  {
    name: 'mysql-late.csv',
    of: 'the same, with a backslash far behind the beginning',
    bytes: lines(
      'record_id,name',
      ...Array.from({ length: 3_000 }, (_, row) => `${row},"Name of customer ${row}, in quotes"`),
      'x,"6\\" pipe",',
    ),
    records: Array.from({ length: 3_000 }, (_, row) => ({ record_id: String(row) })),
    failed: [[3_001, 3_002, 'malformed_row', 'reading.escape']],
  },
  {
    name: 'sqlserver.csv',
    of: 'a query window, without header',
    bytes: lines(...ROWS),
    profile: {
      reading: { headerRow: 0 },
      columns: {
        record_id: { position: 1 },
        domain: { position: 2 },
        country: { position: 3 },
        postal_code: { position: 4 },
      },
    },
  },
  {
    name: 'oracle.csv',
    of: 'a spool file with its count at the end',
    bytes: lines(
      '',
      '"RECORD_ID","DOMAIN","COUNTRY","POSTAL_CODE"',
      ...ROWS.map((row) => `"${row.replaceAll(',', '","')}"`),
      '',
      '3 rows selected.',
    ),
    profile: { reading: { skipRowsAtEnd: 1 } },
  },
  {
    name: 'hive.txt',
    of: 'a table in files, delimited by ^',
    bytes: lines('record_id^domain^country^postal_code', ...ROWS.map((row) => row.replaceAll(',', '^'))),
    profile: { reading: { format: 'csv', delimiter: '^' } },
  },
  {
    name: 'sqlite.csv',
    of: 'a shell with NULL as text',
    bytes: lines(
      'record_id|domain|country|postal_code|email',
      ...ROWS.map((row) => `${row.replaceAll(',', '|')}|NULL`),
    ),
    profile: { reading: { nullTexts: ['NULL'] } },
  },
  { name: 'bigquery.json', of: 'an export of lines that is called .json', bytes: lines(...OBJECTS) },
  {
    name: 'mongo.jsonl',
    of: 'a document store with numbers as identifiers',
    bytes: lines(
      '{"record_id":1001,"domain":"mueller.example","postal_code":1067,"country":"DE"}',
      '{"record_id":1002,"domain":"acme.example","postal_code":2134,"country":"US"}',
    ),
    profile: { normalise: { postal_code: ['postal_code'] } },
    records: [
      { record_id: '1001', postal_code: '01067' },
      { record_id: '1002', postal_code: '02134' },
    ],
  },
  { name: 'lines-of-an-array.ndjson', of: 'an array whose brackets were cut off', bytes: `${OBJECTS.join(',\n')}\n` },
  { name: 'array.json', of: 'an interface', bytes: `[\n  ${OBJECTS.join(',\n  ')}\n]\n` },
  {
    name: 'camel-case.jsonl',
    of: 'an interface with other names',
    bytes: lines(
      '{"recordId":"C-1001","webSite":"mueller.example","zip":"01067","cc":"DE"}',
      '{"zip":"02134","recordId":"C-1002","cc":"US","webSite":"acme.example"}',
      '{"recordId":"C-1003","webSite":"cafe-ete.example","zip":"75001","cc":"FR","more":{"a":[1]}}',
    ),
    profile: { columns: { record_id: 'recordId', domain: 'webSite', postal_code: 'zip', country: 'cc' } },
  },
  {
    name: 'python.ndjson',
    of: 'print() of a program',
    bytes: lines(
      "{'record_id': 'C-1001', 'domain': None}",
      "{'record_id': 'C-1002', 'domain': 'acme.example'}",
      "{'record_id': 'C-1003', 'domain': None}",
    ),
    rejected: ['NO_VALID_RECORDS', 'json.dumps'],
  },
  {
    name: 'pretty.ndjson',
    of: 'a program that indents',
    bytes: '{\n  "record_id": "1"\n}\n{\n  "record_id": "2"\n}\n',
    rejected: ['FORMAT_MISMATCH', 'one line'],
  },
  {
    name: 'pandas.csv',
    of: 'a data frame with its index',
    bytes: lines(',record_id,domain', '0,C-1001,mueller.example'),
    rejected: ['EMPTY_HEADER', 'Column 1'],
  },
  {
    name: 'pandas-no-index.csv',
    of: 'a data frame with nan',
    bytes: lines(
      'record_id,domain,country,postal_code',
      'C-1001,mueller.example,DE,01067.0',
      'C-1002,acme.example,US,2134.0',
      'C-1003,cafe-ete.example,FR,75001.0',
    ),
    profile: { reading: { nullTexts: ['nan'] }, normalise: { postal_code: ['postal_code'] } },
  },
  {
    name: 'r-write.csv',
    of: 'write.csv of R',
    bytes: lines(
      '"record_id","domain","country","postal_code","note"',
      ...ROWS.map((row) => `"${row.replaceAll(',', '","')}",NA`),
    ),
    profile: { reading: { nullTexts: ['NA'] } },
  },
  {
    name: 'spss.csv',
    of: 'statistics with comma decimals',
    bytes: lines(
      'record_id;score;domain;country;postal_code',
      'C-1001;1,5;mueller.example;DE;01067',
      'C-1002;2,25;acme.example;US;02134',
      'C-1003;;cafe-ete.example;FR;75001',
    ),
  },
  {
    name: 'splunk.csv',
    of: 'a log search',
    bytes: lines(
      '"_time",host,count',
      '"2024-05-01T10:00:00.000+02:00","mueller.example",12',
      '"2024-05-01T10:00:00.000+02:00","acme.example",3',
    ),
    profile: { columns: { record_id: { rowNumber: true }, domain: 'host' } },
    records: [
      { record_id: '1', domain: 'mueller.example' },
      { record_id: '2', domain: 'acme.example' },
    ],
  },
  {
    name: 'kibana.csv',
    of: 'a log tool with hidden values',
    bytes: lines(
      '"@timestamp","host.name",message',
      '"May 1, 2024 @ 10:00:00.000","mueller.example","a ""b"""',
      '"May 1, 2024 @ 10:00:00.000","-","(empty)"',
    ),
    profile: { reading: { nullTexts: ['-'] }, columns: { record_id: { rowNumber: true }, domain: 'host.name' } },
    records: [{ record_id: '1', domain: 'mueller.example' }, { record_id: '2' }],
  },
  {
    name: 'cut-off.csv',
    of: 'a download that broke off in a quoted cell',
    bytes: 'record_id,note\n1,a\n2,"broken',
    rejected: ['UNTERMINATED_QUOTE', 'line 3'],
  },
  {
    name: 'line-ends-lost.csv',
    of: 'curl -d',
    bytes: 'record_id,domain1,mueller.example2,acme.example',
    rejected: ['NO_RECORDS', '--data-binary'],
  },
  {
    name: 'shift-jis.csv',
    of: 'a program in Japan',
    bytes: encoded(
      lines(
        '顧客番号,サイト,国',
        'C-1001,mueller.example,ドイツ',
        'C-1002,acme.example,アメリカ合衆国',
        'C-1003,cafe-ete.example,フランス',
      ),
      'shift_jis',
    ),
    profile: {
      reading: { encoding: 'shift_jis' },
      columns: { record_id: '顧客番号', domain: 'サイト', country: '国' },
      normalise: { country: ['country_alpha2'] },
    },
    records: [{ country: 'DE' }, { country: 'US' }, { country: 'FR' }],
  },
];
