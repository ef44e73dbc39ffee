/**
 * Size that DynamoDB charges for an item of strings, numbers and binaries, never less than the true one:
 * UTF-8 bytes of names and strings, bytes of binaries, and for a number a byte per two digits and one more.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemBytes(item: Readonly<Record<string, unknown>>): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueBytes(value);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 2;
  if (value instanceof Uint8Array) return value.byteLength;
  throw new TypeError(
    `The size of an attribute of type ${typeof value} is not known: only strings, numbers and binaries.`,
  );
}
