/** Keywords of config/record.schema.json beside those of JSON Schema. They say what a profile may do, and no record is checked by them. */
export const SCHEMA_KEYWORDS = {
  /** At the root: name of the field that identifies a record; `record_id` where it is absent. */
  id: 'x-sluice-id',
  /** At a field: the steps that a profile may name for it. */
  normalise: 'x-sluice-normalise',
  /** At a field: other names of its column, in any language, by which a preview finds it. */
  names: 'x-sluice-names',
  /** At a field of text: JSON numbers are accepted, as text. */
  numbers: 'x-sluice-numbers-as-text',
} as const;
