import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DependencyUnavailableError } from '../../domain/errors.ts';
import { isTerminal, type RecordRow } from '../../domain/model.ts';
import type { RecordStore } from '../../domain/records/ports.ts';
import { mergeOver } from '../../domain/records/merge.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable, type Item } from './dynamo.ts';
import { expr, type Expression } from './expression.ts';
import { chunkKey, parseRecord, recordItem, recordKey } from './record-item.ts';

/** Writers of one row that may be faster, one after the other. */
const MAX_ROUNDS = 5;

/** The same content, whatever the order of members and whoever made the objects; what a newer version added is none of it. */
const same = (a: RecordRow, b: RecordRow): boolean => isDeepStrictEqual(plain(a), plain(b));
const plain = ({ storedState: _state, others: _others, ...row }: RecordRow): unknown => JSON.parse(JSON.stringify(row));

/** True when what is stored gives way to `row`. */
const yields = (stored: RecordRow, row: RecordRow): boolean =>
  stored.state !== 'succeeded' &&
  (stored.generation < row.generation || (stored.generation === row.generation && !isTerminal(stored.state)));

/** Holds while nobody has written since `seen` was read: two writers of one row do not share a millisecond and a state. */
const unchanged = (seen: RecordRow | undefined, unexpired: Expression): Expression => {
  const absent = expr`attribute_not_exists(#recordNo) OR NOT (${unexpired})`;
  if (seen === undefined) return absent;
  return expr`${absent} OR (#up = ${seen.updatedAtMs} AND #gn = ${seen.generation} AND #st = ${seen.storedState ?? seen.state})`;
};

/** The rows of the records table, see {@link RecordStore}. */
export function createRecordStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): RecordStore {
  const table = new DynamoTable(client, tableName, clock);
  const unexpiredRows = (items: readonly Item[]): RecordRow[] =>
    items.map(parseRecord).filter((row) => row.expiresAtSeconds * 1000 > clock.now());

  return {
    async getMany(keys) {
      return unexpiredRows(await table.getMany(keys.map(recordKey)));
    },

    async put(row, seen, { ifUnchanged = false } = {}) {
      let known = seen !== undefined && yields(seen, row) ? seen : undefined;
      let next = row;
      const token = ifUnchanged ? randomUUID() : undefined;
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const item = recordItem({ ...next, ...(known?.others && { others: known.others }) }, token);
        const written = await table.put(recordKey(row), item, unchanged(known, table.unexpired()));
        if (written.applied) return { applied: true, stored: next };
        const standing = await written.standing();
        const [stored] = standing === undefined ? [] : unexpiredRows([standing]);
        // Two writers may store the same in one millisecond: only the SDK's own repetition carries the same token.
        if (stored !== undefined && token !== undefined) return { applied: standing?.['wt'] === token, stored };
        // The same content: this write was applied before, and its answer was lost.
        if (stored !== undefined && (same(stored, next) || !yields(stored, row))) {
          return { applied: same(stored, next), stored };
        }
        known = stored;
        next = stored === undefined ? row : mergeOver(row, stored);
      }
      throw new DependencyUnavailableError(
        `The row ${row.submissionId}/${row.recordNo} could not be written: others wrote it ${MAX_ROUNDS} times meanwhile.`,
      );
    },

    async chunkRows(submissionId, chunk) {
      return unexpiredRows(await table.queryAll({ where: expr`#chunkKey = ${chunkKey(submissionId, chunk)}` }));
    },
  };
}
