/** Character sets that a file may be declared to have beside UTF-8, by the names of the WHATWG Encoding Standard. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  'utf-16le': ['utf-16', 'utf16', 'utf16le', 'ucs-2', 'unicode'],
  'utf-16be': ['utf16be'],
  'utf-32le': ['utf-32', 'utf32', 'utf32le'],
  'utf-32be': ['utf32be'],
  // What is declared as ISO-8859-1 is windows-1252 in practice; browsers read it so, too.
  'windows-1252': ['cp1252', 'ansi', 'iso-8859-1', 'iso8859-1', 'latin1', 'l1'],
  ...Object.fromEntries(
    [1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258, 874].map((page) => [`windows-${page}`, [`cp${page}`]]),
  ),
  ...Object.fromEntries(
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16].map((part) => [`iso-8859-${part}`, [`iso8859-${part}`]]),
  ),
  shift_jis: ['shift-jis', 'sjis', 'cp932', 'windows-31j', 'ms932'],
  'euc-jp': ['eucjp'],
  gbk: ['gb2312', 'cp936', 'windows-936'],
  gb18030: [],
  big5: ['cp950', 'big5-hkscs'],
  'euc-kr': ['euckr', 'cp949', 'ks_c_5601-1987'],
  'koi8-r': ['koi8r', 'koi8'],
  'koi8-u': ['koi8u'],
  macintosh: ['macroman', 'mac-roman', 'x-mac-roman'],
  cp437: ['ibm437'],
  cp850: ['ibm850'],
  cp852: ['ibm852'],
  cp866: ['ibm866'],
};

const CANONICAL = new Map(
  Object.entries(LABELS).flatMap(([name, labels]) => [name, ...labels].map((label) => [label, name] as const)),
);
const UTF_8 = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii', 'utf-8-sig']);

export const CHARSETS: readonly string[] = ['utf-8', ...Object.keys(LABELS)];

/** The name of a declared character set; undefined for one that is not known. Case and underscores do not matter. */
export function charsetOf(label: string): string | undefined {
  const folded = label.trim().toLowerCase();
  if (UTF_8.has(folded)) return 'utf-8';
  return CANONICAL.get(folded) ?? CANONICAL.get(folded.replaceAll('_', '-'));
}
