/** Formats a number as its cell shows it. */
export type ShowNumber = (value: number) => string;

/** Days between the beginnings of the two date systems of workbooks. */
const DAYS_TO_1904 = 1_462;

/**
 * Dates that each spreadsheet program shows as its user's locale wants: the file does not say how, so they become ISO 8601. The ids are of
 * ECMA-376, part 1, section 18.8.30.
 */
const ISO_DATE = 'yyyy-mm-dd';
const LOCALE_DATES = new Map<number, string>([
  [14, ISO_DATE],
  [22, 'yyyy-mm-dd hh:mm'],
  ...[27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, ISO_DATE] as const),
]);

/** The formats that a file names by their number only, as above. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '$#,##0;($#,##0)',
  6: '$#,##0;($#,##0)',
  7: '$#,##0.00;($#,##0.00)',
  8: '$#,##0.00;($#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  32: 'hh:mm',
  33: 'hh:mm:ss',
  34: 'hh:mm',
  35: 'hh:mm:ss',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
};

/**
 * A number without a format of its own: every digit that the workbook holds (15), none after a whole number. A sheet shows as many as its
 * column is wide, and long identifiers as 1.23E+12.
 */
export function showGeneral(value: number): string {
  const rounded = Number(value.toPrecision(15));
  return Math.abs(rounded) < 1e21 && Number.isInteger(rounded) ? BigInt(rounded).toString() : String(rounded);
}

/**
 * Makes the formatters of a workbook's number formats.
 *
 * @param codes the formats that the workbook defines, by id
 */
export async function numberFormats(
  codes: ReadonlyMap<number, string>,
  { date1904 }: { date1904: boolean },
): Promise<(id: number) => ShowNumber> {
  const { format, isDateFormat } = await import('numfmt');
  return (id) => {
    const code = codes.get(id) ?? LOCALE_DATES.get(id) ?? BUILT_IN[id] ?? 'General';
    if (/^(?:general|@)$/i.test(code)) return showGeneral;
    const days = date1904 && isDateFormat(code) ? DAYS_TO_1904 : 0;
    return (value) => {
      const shown = format(code, value + days, { throws: false, invalid: '', overflow: '' }).trim();
      // A format that hides its value, or that is not valid: the value is what the cell has.
      return shown === '' || shown.startsWith('###') ? showGeneral(value) : shown;
    };
  };
}
