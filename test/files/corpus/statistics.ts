import { encoded } from '../../support/prepare/files.ts';
import { crlf, lines, type CorpusFile } from './corpus.ts';

const NUMBERED = { record_id: { rowNumber: true } } as const;

/** Statistics offices, registers and open data. */
export const STATISTICS: readonly CorpusFile[] = [
  {
    name: 'destatis.csv',
    of: 'a statistics office: titles above, signs and notes below',
    bytes: encoded(
      crlf(
        'GENESIS-Tabelle: 12345-0001;;;',
        'Unternehmen nach Sitz;;;',
        ';;;',
        'Schlüssel;Internetseite;Land;PLZ',
        'C-1001;mueller.example;Deutschland;01067',
        'C-1002;acme.example;Vereinigte Staaten;02134',
        'C-1003;cafe-ete.example;Frankreich;75001',
        '__________;;;',
        '(C)opyright Statistisches Bundesamt, 2024;;;',
        'Stand: 01.05.2024;;;',
      ),
      'iso-8859-1',
    ),
    profile: {
      reading: { encoding: 'latin1', skipRowsAtEnd: 3 },
      columns: { record_id: 'Schlüssel', domain: 'Internetseite', country: 'Land', postal_code: 'PLZ' },
      normalise: { country: ['country_alpha2'] },
    },
  },
  {
    name: 'insee.csv',
    of: 'a register in French',
    bytes: lines(
      'SIRET;Site web;Pays;Code postal',
      'C-1001;http://mueller.example;Allemagne;01067',
      'C-1002;http://acme.example;États-Unis;02134',
      'C-1003;http://cafe-ete.example;France;75001',
    ),
    profile: {
      columns: { record_id: 'SIRET', domain: 'Site web', country: 'Pays', postal_code: 'Code postal' },
      normalise: { domain: ['host_of_url'], country: ['country_alpha2'] },
    },
  },
  {
    name: 'eurostat.tsv',
    of: 'the statistics office of the EU',
    bytes: lines('geo\tunit\tsite', 'EL\tNR\tmueller.example', 'UK\tNR\tacme.example'),
    profile: { columns: { ...NUMBERED, country: 'geo', domain: 'site' }, normalise: { country: ['country_alpha2'] } },
    records: [{ country: 'GR' }, { country: 'GB' }],
  },
  {
    name: 'census-us.csv',
    of: 'two lines of names, of which the second one is a description',
    bytes: lines(
      'GEO_ID,NAME,ZCTA,SITE',
      '"id","Geographic Area Name","ZIP Code Tabulation Area","Site"',
      'C-1002,Allston,2134,acme.example',
    ),
    profile: {
      columns: { record_id: 'GEO_ID', postal_code: 'ZCTA', domain: 'SITE', country: { constant: 'US' } },
      normalise: { postal_code: ['postal_code'] },
    },
    records: [{ record_id: 'C-1002', postal_code: '02134', country: 'US' }],
    failed: [[1, 2, 'invalid_record', 'domain']],
  },
  {
    name: 'census-header-row.csv',
    of: 'the same, by the line of its descriptions',
    bytes: lines('GEO_ID,NAME,ZCTA,SITE', '"id","Area","ZIP","Site"', 'C-1002,Allston,2134,acme.example'),
    profile: { reading: { headerRow: 2 }, columns: { record_id: 'id', domain: 'Site' } },
    records: [{ record_id: 'C-1002', domain: 'acme.example' }],
  },
  {
    name: 'companies-house.csv',
    of: 'a register with blanks before names',
    bytes: lines(
      'CompanyName, CompanyNumber,RegAddress.Country, RegAddress.PostCode,URI',
      '"MÜLLER LTD","C-1001","Germany","01067","http://mueller.example/doc"',
      '"ACME, LTD","C-1002","USA","02134","http://acme.example/doc"',
      '"CAFE","C-1003","France","75001","http://cafe-ete.example/doc"',
    ),
    profile: {
      columns: {
        record_id: 'CompanyNumber',
        country: 'RegAddress.Country',
        postal_code: 'RegAddress.PostCode',
        domain: 'URI',
      },
      normalise: { country: ['country_alpha2'], domain: ['host_of_url'] },
    },
  },
  {
    name: 'open-data-bom.csv',
    of: 'an open data portal',
    bytes: `\uFEFF${lines('Record_ID;DOMAIN;Country;Postal-Code', 'C-1001;mueller.example;DE;01067', 'C-1002;acme.example;US;02134', 'C-1003;cafe-ete.example;FR;75001')}`,
  },
  {
    name: 'missing-column.csv',
    of: 'an open data portal without identifiers',
    bytes: lines('Open data of the city', '', 'name,site', 'x,acme.example'),
    rejected: ['MISSING_REQUIRED_COLUMN', 'line 3'],
  },
  {
    name: 'missing-profile-column.csv',
    of: 'a profile for another export',
    bytes: lines('id,site', '1,acme.example'),
    profile: { columns: { record_id: 'id', domain: 'Website' } },
    rejected: ['MISSING_REQUIRED_COLUMN', '"Website"'],
  },
  {
    name: 'several-meant.csv',
    of: 'two columns that one name can mean',
    bytes: lines('ID,Id,site', '1,2,acme.example'),
    profile: { columns: { record_id: 'id' } },
    rejected: ['MISSING_REQUIRED_COLUMN', 'several columns'],
  },
  {
    name: 'numbers-below.csv',
    of: 'a table with its totals below',
    bytes: lines('record_id,domain', 'C-1001,mueller.example', 'C-1002,acme.example', 'Total,2,records'),
    records: [{ record_id: 'C-1001' }, { record_id: 'C-1002' }],
    failed: [[3, 4, 'malformed_row', '3 cells']],
  },
  {
    name: 'page.csv',
    of: 'a login page instead of a file',
    bytes: '<!DOCTYPE html>\n<html><body>Please log in</body></html>\n',
    rejected: ['FORMAT_MISMATCH', 'HTML'],
  },
  {
    name: 'comma-in-values.csv',
    of: 'a program that does not quote',
    bytes: lines(
      'record_id,name,domain',
      'C-1001,Müller, Söhne,mueller.example',
      'C-1002,Acme, Inc.,acme.example',
      'C-1003,Café, Été,cafe-ete.example',
    ),
    rejected: ['NO_VALID_RECORDS', 'Quote the cells that contain the delimiter'],
  },
  {
    name: 'umlauts-apart.csv',
    of: 'a Mac, whose names have umlauts in parts',
    bytes: lines('record_id,domain,country', 'C-1001,mu\u0308ller.example,DE'),
    profile: { normalise: { domain: ['trim', 'nfc'] } },
    records: [{ domain: 'müller.example' }],
  },
];
