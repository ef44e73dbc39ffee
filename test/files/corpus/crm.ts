import { lines, crlf, type CorpusFile } from './corpus.ts';

const HOSTS = ['trim', 'host_of_url', 'lower'] as const;

/** Exports of customer relations, shops, mail and accounting. */
export const CRM: readonly CorpusFile[] = [
  {
    name: 'hubspot-companies.csv',
    of: 'a CRM that quotes every cell',
    bytes: lines(
      '"Record ID","Company name","Company Domain Name","Country/Region","Postal Code"',
      '"C-1001","Müller & Söhne GmbH","mueller.example","Germany","01067"',
      '"C-1002","Acme, Inc.","acme.example","United States","02134"',
      '"C-1003","Café ""Été"" SARL","cafe-ete.example","France","75001"',
    ),
    profile: {
      columns: { domain: 'Company Domain Name', country: 'Country/Region' },
      normalise: { country: ['trim', 'country_alpha2'] },
    },
  },
  {
    name: 'salesforce-report.csv',
    of: 'a CRM report with a footer',
    bytes: crlf(
      '"Account ID","Account Name","Website","Billing Country","Billing Zip/Postal Code"',
      '"C-1001","Müller","https://www.mueller.example","DE","01067"',
      '"C-1002","Acme","http://acme.example/","US","02134"',
      '"C-1003","Café","www.cafe-ete.example","FR","75001"',
      '"Total Records: 3"',
      '"Confidential Information - Do Not Distribute"',
    ),
    profile: {
      reading: { skipRowsAtEnd: 2 },
      columns: {
        record_id: 'Account ID',
        domain: 'Website',
        country: 'Billing Country',
        postal_code: 'Billing Zip/Postal Code',
      },
      normalise: { domain: [...HOSTS] },
    },
  },
  {
    name: 'pipedrive.csv',
    of: 'a CRM whose websites have paths',
    bytes: lines(
      'Organization - ID;Organization - Website;Organization - Country;Organization - ZIP',
      'C-1001;https://Mueller.example/de/start?x=1;DEU;01067',
      'C-1002;https://acme.example/about;USA;02134',
      'C-1003;cafe-ete.example/;FRA;75001',
    ),
    profile: {
      columns: {
        record_id: 'Organization - ID',
        domain: 'Organization - Website',
        country: 'Organization - Country',
        postal_code: 'Organization - ZIP',
      },
      normalise: { domain: [...HOSTS], country: ['trim', 'country_alpha2'] },
    },
  },
  {
    name: 'zoho-accounts.csv',
    of: 'a CRM with names in capitals and blanks',
    bytes: lines(
      'RECORD ID,Account,DOMAIN,Country,Postal code',
      'C-1001,M,mueller.example,de,01067',
      'C-1002,A,acme.example,us,02134',
      'C-1003,C,cafe-ete.example,fr,75001',
    ),
    profile: { normalise: { country: ['upper'] } },
  },
  {
    name: 'outlook-contacts.csv',
    of: 'an address book in which only mail addresses name the company',
    bytes: crlf(
      'First Name,E-mail Address,Business Country/Region,Business Postal Code,Categories',
      'Ada,ada@mueller.example,Germany,01067,',
      'Bob,"""Bob Doe"" <bob@ACME.example>",United States of America,02134,',
      'Zoé,zoe@cafe-ete.example,France,75001,VIP;Lead',
    ),
    profile: {
      columns: {
        record_id: { rowNumber: true },
        domain: 'E-mail Address',
        country: 'Business Country/Region',
        postal_code: 'Business Postal Code',
      },
      normalise: { domain: ['trim', 'host_of_email'], country: ['trim', 'country_alpha2'] },
    },
    records: [
      { record_id: '1', domain: 'mueller.example', country: 'DE' },
      { record_id: '2', domain: 'acme.example', country: 'US' },
      { record_id: '3', domain: 'cafe-ete.example', country: 'FR' },
    ],
  },
  {
    name: 'mailchimp-members.csv',
    of: 'a newsletter tool',
    bytes: lines(
      'Email Address,First Name,MEMBER_RATING,LEID,CC',
      'x@mueller.example,A,2,C-1001,DE',
      'y@acme.example,B,3,C-1002,US',
      'z@cafe-ete.example,C,2,C-1003,FR',
    ),
    profile: {
      columns: { record_id: 'LEID', domain: 'Email Address', country: 'CC' },
      normalise: { domain: ['host_of_email'] },
    },
    records: [
      { record_id: 'C-1001', domain: 'mueller.example' },
      { domain: 'acme.example' },
      { domain: 'cafe-ete.example', country: 'FR' },
    ],
  },
  {
    name: 'shopify-customers.csv',
    of: 'a shop that protects its postal codes from spreadsheets',
    bytes: lines(
      'Customer ID,Company,Default Address Country Code,Default Address Zip,Domain',
      "C-1001,M,DE,'01067,mueller.example",
      "C-1002,A,US,'02134,acme.example",
      "C-1003,C,FR,'75001,cafe-ete.example",
    ),
    profile: {
      columns: {
        record_id: 'Customer ID',
        country: 'Default Address Country Code',
        postal_code: 'Default Address Zip',
      },
      normalise: { postal_code: ['unwrap_formula'] },
    },
  },
  {
    name: 'woocommerce.csv',
    of: 'a shop that writes identifiers as formulas',
    bytes: lines(
      '"record_id","domain","country","postal_code"',
      '"=""C-1001""","mueller.example","DE","=""01067"""',
      '"=""C-1002""","acme.example","US","=""02134"""',
      '"=""C-1003""","cafe-ete.example","FR","=""75001"""',
    ),
    profile: { normalise: { record_id: ['unwrap_formula'], postal_code: ['unwrap_formula'] } },
  },
  {
    name: 'stripe-customers.csv',
    of: 'a payment service with more columns than are needed',
    bytes: lines(
      'id,Description,Email,Name,Created (UTC),Address Country,Address Postal Code,site (metadata)',
      'C-1001,,a@b.example,M,2024-05-01 10:00,DE,01067,mueller.example',
      'C-1002,"d, e",a@b.example,A,2024-05-01 10:00,US,02134,acme.example',
      'C-1003,,,C,2024-05-01 10:00,FR,75001,cafe-ete.example',
    ),
    profile: {
      columns: {
        record_id: 'id',
        domain: 'site (metadata)',
        country: 'Address Country',
        postal_code: 'Address Postal Code',
      },
    },
  },
  {
    name: 'datev.csv',
    of: 'accounting with a line of its own above the header',
    bytes: crlf(
      '"EXTF";700;16;"Debitoren/Kreditoren";5;20240501000000000;;"SV";"";;;;;',
      'Konto;Name;Internet;Land;Postleitzahl;',
      'C-1001;"Müller";"www.mueller.example";DE;01067;',
      'C-1002;"Acme";"www.acme.example";US;02134;',
      'C-1003;"Café";"www.cafe-ete.example";FR;75001;',
    ),
    profile: {
      columns: { record_id: 'Konto', domain: 'Internet', country: 'Land', postal_code: 'Postleitzahl' },
      normalise: { domain: ['host_of_url'] },
    },
  },
  {
    name: 'sap-list.txt',
    of: 'a list that is printed with vertical bars',
    bytes: lines(
      'Customer list            Page 1',
      '',
      '|Customer|Name 1|Ctr|PostalCode|Homepage|',
      '|C-1001|Mueller|DE|01067|mueller.example|',
      '|C-1002|Acme|US|02134|acme.example|',
      '|C-1003|Cafe|FR|75001|cafe-ete.example|',
    ),
    profile: {
      reading: { format: 'csv', delimiter: '|' },
      columns: { record_id: 'Customer', country: 'Ctr', postal_code: 'PostalCode', domain: 'Homepage' },
    },
    rejected: ['EMPTY_HEADER', 'Column 1'],
  },
  {
    name: 'linkedin-connections.csv',
    of: 'a network with notes above its header',
    bytes: lines(
      'Notes:',
      '"When exporting your connection data, you may notice that some of the email addresses are missing."',
      '',
      'First Name,Last Name,URL,Company,Key',
      'A,B,https://www.mueller.example/in/a,M,C-1001',
      'C,D,https://acme.example/in/b,A,C-1002',
      'E,F,https://cafe-ete.example/in/c,C,C-1003',
    ),
    profile: { columns: { record_id: 'Key', domain: 'URL' }, normalise: { domain: ['host_of_url'] } },
    records: [{ domain: 'mueller.example' }, { domain: 'acme.example' }, { domain: 'cafe-ete.example' }],
  },
  {
    name: 'jira-issues.csv',
    of: 'an issue tracker that repeats the names of columns',
    bytes: lines('Issue key,Summary,Labels,Labels,Website', 'C-1,x,a,b,acme.example'),
    profile: { columns: { record_id: 'Issue key', domain: 'Website' } },
    rejected: ['DUPLICATE_HEADER', '"Labels"'],
  },
  {
    name: 'urls-without-profile.csv',
    of: 'a customer who has not read about profiles',
    bytes: lines(
      'record_id,domain',
      '1,https://mueller.example/',
      '2,https://acme.example/',
      '3,https://cafe-ete.example/',
    ),
    rejected: ['NO_VALID_RECORDS', '{"normalise":{"domain":["trim","host_of_url"]}}'],
  },
];
