import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import cs from 'i18n-iso-countries/langs/cs.json' with { type: 'json' };
import da from 'i18n-iso-countries/langs/da.json' with { type: 'json' };
import de from 'i18n-iso-countries/langs/de.json' with { type: 'json' };
import en from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import es from 'i18n-iso-countries/langs/es.json' with { type: 'json' };
import fi from 'i18n-iso-countries/langs/fi.json' with { type: 'json' };
import fr from 'i18n-iso-countries/langs/fr.json' with { type: 'json' };
import it from 'i18n-iso-countries/langs/it.json' with { type: 'json' };
import ja from 'i18n-iso-countries/langs/ja.json' with { type: 'json' };
import nl from 'i18n-iso-countries/langs/nl.json' with { type: 'json' };
import no from 'i18n-iso-countries/langs/no.json' with { type: 'json' };
import pl from 'i18n-iso-countries/langs/pl.json' with { type: 'json' };
import pt from 'i18n-iso-countries/langs/pt.json' with { type: 'json' };
import sv from 'i18n-iso-countries/langs/sv.json' with { type: 'json' };
import tr from 'i18n-iso-countries/langs/tr.json' with { type: 'json' };

/** Languages whose country names are known, in the order in which a name that means two countries is decided. */
const LANGUAGES = [en, de, fr, es, it, nl, pt, pl, sv, da, no, fi, cs, tr, ja];

/** Codes and names in use beside those of the package, folded: UK is reserved for the United Kingdom, EL is Greece in the European Union. */
const IN_USE: Readonly<Record<string, string>> = {
  UK: 'GB',
  EL: 'GR',
  'U K': 'GB',
  // Short forms that the package lacks.
  'ETATS UNIS': 'US',
  'STATI UNITI': 'US',
  ENGLAND: 'GB',
  SCOTLAND: 'GB',
  WALES: 'GB',
};

const fold = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

let known: ReadonlyMap<string, string> | undefined;

/** Made at the first use: what starts a function should not pay for it. */
function byName(): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [alpha2 = '', alpha3 = ''] of codes) map.set(alpha2, alpha2).set(alpha3, alpha2);
  for (const [code, alpha2] of Object.entries(IN_USE)) if (!map.has(code)) map.set(code, alpha2);
  for (const { countries } of LANGUAGES) {
    for (const [alpha2, names] of Object.entries<string | string[]>(countries)) {
      for (const name of [names].flat()) {
        const folded = fold(name);
        if (!map.has(folded)) map.set(folded, alpha2);
      }
    }
  }
  return map;
}

/**
 * ISO 3166-1 alpha-2 code of a country that is named by code (alpha-2, alpha-3) or by name in one of the languages above, whatever
 * its case, accents and punctuation; undefined for any other text. Names are those of the package i18n-iso-countries.
 */
export function alpha2OfCountry(text: string): string | undefined {
  known ??= byName();
  return known.get(fold(text));
}
