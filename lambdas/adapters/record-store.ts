import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DependencyUnavailableError } from '../domain/errors.ts';
import { TERMINAL_STATES, type RecordRow } from '../domain/model.ts';
import type { RecordStore } from '../domain/ports.ts';
import type { Clock } from '../domain/time.ts';
import { DynamoTable, type Item } from './dynamo.ts';
import { expr, isIn, type Expression } from './expression.ts';
import { chunkKey, parseRecord, recordItem, recordKey } from './record-item.ts';

const MAX_ROUNDS = 3;

/** The same content, whatever the order of members and whoever made the objects. */
const same = (a: RecordRow, b: RecordRow): boolean => isDeepStrictEqual(plain(a), plain(b));
const plain = (row: RecordRow): unknown => JSON.parse(JSON.stringify(row));

/** Holds when `row` may take the place of what is stored. */
const yields = (row: RecordRow, unexpired: Expression): Expression => expr`attribute_not_exists(#recordNo)
  OR NOT (${unexpired})
  OR (#st <> ${'succeeded'} AND #gn < ${row.generation})
  OR (#gn = ${row.generation} AND NOT ${isIn('st', TERMINAL_STATES)})`;

/** The rows of the records table, see {@link RecordStore}. */
export function createRecordStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): RecordStore {
  const table = new DynamoTable(client, tableName, clock);
  const unexpiredRows = (items: readonly Item[]): RecordRow[] =>
    items.map(parseRecord).filter((row) => row.expiresAtSeconds * 1000 > clock.now());

  return {
    async getMany(keys) {
      return unexpiredRows(await table.getMany(keys.map(recordKey)));
    },

    async put(row) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const written = await table.put(recordKey(row), recordItem(row), yields(row, table.unexpired()));
        if (written.applied) return { applied: true, stored: row };
        const standing = await written.standing();
        const [stored] = standing === undefined ? [] : unexpiredRows([standing]);
        // The same content: this write was applied before, and its answer was lost.
        if (stored !== undefined) return { applied: same(stored, row), stored };
      }
      throw new DependencyUnavailableError(
        `The row ${row.submissionId}/${row.recordNo} could not be written: it expired while it was looked at.`,
      );
    },

    async chunkRows(submissionId, chunk) {
      return unexpiredRows(await table.queryAll({ where: expr`#chunkKey = ${chunkKey(submissionId, chunk)}` }));
    },
  };
}
