import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { InvalidDataError, ObjectChangedError, ObjectMissingError } from '../../lambdas/domain/errors.ts';
import type { Make, ObjectWorld } from './world.ts';

const KEY = 'uploads/acme/up_1';
const MIB = 1024 * 1024;

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/** A bucket as Sluice uses it. */
export function describeObjectStore(make: Make<ObjectWorld>): void {
  describe('reading', () => {
    test('an accepted object from its beginning and from any byte of it', async () => {
      const { objects } = await make();
      const body = randomBytes(300_000);
      const { etag, sizeBytes } = await objects.put(KEY, body, 'text/csv');
      const source = { key: KEY, etag, sizeBytes };

      expect(sizeBytes).toBe(300_000);
      expect((await whole(await objects.read(source, 0))).equals(body)).toBe(true);
      expect((await whole(await objects.read(source, 123_456))).equals(body.subarray(123_456))).toBe(true);
      expect(await whole(await objects.read(source, 300_000))).toHaveLength(0);
    });

    test('an empty object', async () => {
      const { objects } = await make();
      const { etag } = await objects.put(KEY, new Uint8Array(), 'text/csv');

      expect(await whole(await objects.read({ key: KEY, etag, sizeBytes: 0 }, 0))).toHaveLength(0);
    });

    test('an object that was replaced is not mixed in', async () => {
      const { objects } = await make();
      const accepted = await objects.put(KEY, Buffer.from('record_id\n1\n'), 'text/csv');
      await objects.put(KEY, Buffer.from('record_id\n2\n'), 'text/csv');

      const read = objects.read({ key: KEY, ...accepted }, 4);

      await expect(read).rejects.toBeInstanceOf(ObjectChangedError);
    });

    test('an object that is not there', async () => {
      const { objects } = await make();

      const read = objects.read({ key: KEY, etag: '"abc"', sizeBytes: 10 }, 0);

      await expect(read).rejects.toBeInstanceOf(ObjectMissingError);
      expect(await objects.head(KEY)).toBeUndefined();
      expect(await objects.getSmall(KEY, 100)).toBeUndefined();
    });

    test('a small object whole, and none that is larger than asked for', async () => {
      const { objects } = await make();
      const stored = await objects.put(KEY, Buffer.from('{"version":1}'), 'application/json');

      expect(Buffer.from((await objects.getSmall(KEY, 13)) ?? []).toString()).toBe('{"version":1}');
      await expect(objects.getSmall(KEY, 12)).rejects.toBeInstanceOf(InvalidDataError);
      expect(await objects.head(KEY)).toMatchObject(stored);
    });
  });

  describe('writing', () => {
    test('an object once leaves what stands, and tells about that', async () => {
      const { objects } = await make();
      const first = await objects.create(KEY, Buffer.from('first'), 'text/csv');
      const again = await objects.create(KEY, Buffer.from('something else'), 'text/csv');

      expect([again, await objects.head(KEY)]).toMatchObject([first, first]);
      expect((await whole(await objects.read({ key: KEY, ...first }, 0))).toString()).toBe('first');
    });

    test.each([
      ['nothing', []],
      ['a few small chunks', [10, 1, 2000]],
      ['more than one part in odd chunks', [3 * MIB, 3 * MIB, 3 * MIB, 17]],
      ['one chunk of several parts', [17 * MIB]],
    ])('%s appears whole when the writer is closed, and not before', async (_what, sizes) => {
      const { objects } = await make();
      const chunks = sizes.map((size) => randomBytes(size));
      const expected = Buffer.concat(chunks);
      const writer = objects.writer(KEY, 'application/x-ndjson');

      for (const chunk of chunks) {
        await writer.write(chunk);
        chunk.fill(0);
      }
      expect(await objects.head(KEY)).toBeUndefined();
      await writer.close();

      const stored = await objects.head(KEY);
      expect(stored?.sizeBytes).toBe(expected.byteLength);
      const source = { key: KEY, etag: stored?.etag ?? '', sizeBytes: expected.byteLength };
      expect((await whole(await objects.read(source, 0))).equals(expected)).toBe(true);
    });

    test.each([
      ['a small object', 10],
      ['a large one', 9 * MIB],
    ])('%s that is written once stays as it was written first', async (_what, size) => {
      const { objects } = await make();
      const write = async (bytes: Buffer) => {
        const writer = objects.writer(KEY, 'text/csv', { once: true });
        await writer.write(bytes);
        return writer.close();
      };
      const bytes = randomBytes(size);

      const first = await write(Buffer.from(bytes));
      const second = await write(Buffer.from(bytes));

      expect(second).toEqual(first);
      expect(await objects.head(KEY)).toMatchObject(first);
      expect((await whole(await objects.read({ key: KEY, ...first }, 0))).equals(bytes)).toBe(true);
    });

    test.each([
      ['a small object', 10],
      ['a large one', 9 * MIB],
    ])('%s that is given up never appears', async (_what, size) => {
      const { objects } = await make();
      const writer = objects.writer(KEY, 'text/csv');
      await writer.write(randomBytes(size));

      await writer.abort();
      await writer.abort();

      expect(await objects.head(KEY)).toBeUndefined();
      await expect(writer.close()).rejects.toThrow(/given up/);
    });
  });
}
