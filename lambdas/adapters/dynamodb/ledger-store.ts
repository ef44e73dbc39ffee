import pLimit from 'p-limit';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DependencyUnavailableError } from '../../domain/errors.ts';
import { emptyChunk } from '../../domain/ledger/ledger.ts';
import type { LedgerChunk } from '../../domain/model.ts';
import type { LedgerMarks, LedgerStore } from '../../domain/ledger/ports.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable, type Item, type Written } from './dynamo.ts';
import { expr, join, named, type Expression } from './expression.ts';
import {
  FAILED_ATTRIBUTES,
  failedAttribute,
  isFailedAttribute,
  LEDGER_ATTRIBUTES,
  ledgerKey,
  parseLedger,
} from './ledger-item.ts';

const PARALLEL_WRITES = 8;
const MAX_ROUNDS = 5;

/** Attributes to set and numbers to add to sets. */
interface Change {
  set: Item;
  add: [attribute: string, offsets: readonly number[]][];
}

function updateOf({ set, add }: Change): Expression {
  const assignments = Object.entries(set).map(([attribute, value]) => expr`${named(attribute)} = ${value}`);
  const additions = add.map(([attribute, offsets]) => expr`${named(attribute)} ${new Set(offsets)}`);
  const adding = additions.length === 0 ? expr`` : expr` ADD ${join(additions, ', ')}`;
  return expr`SET ${join(assignments, ', ')}${adding}`;
}

/** The same change of an item whose content counts no more: every other attribute goes. An update, so that no role needs more. */
function replacementOf({ set, add }: Change): Expression {
  const kept: [string, unknown][] = [
    ...Object.entries(set),
    ...add.map(([attribute, offsets]): [string, unknown] => [attribute, new Set(offsets)]),
  ];
  const assignments = kept.map(([attribute, value]) => expr`${named(attribute)} = ${value}`);
  const names = new Set(kept.map(([attribute]) => attribute));
  const gone = LEDGER_ATTRIBUTES.filter((attribute) => !names.has(attribute)).map(named);
  return expr`SET ${join(assignments, ', ')} REMOVE ${join(gone, ', ')}`;
}

const additionsOf = ({ succeeded, cancelled, failed }: LedgerMarks): Change['add'] => {
  const all: Change['add'] = [
    ['s', succeeded],
    ['c', cancelled],
  ];
  for (const [reason, offsets] of failed) all.push([failedAttribute(reason), offsets]);
  return all.filter(([, offsets]) => offsets.length > 0);
};

/** A set of failures for a reason that only a newer version knows. */
const isUnknownFailure = (attribute: string): boolean =>
  isFailedAttribute(attribute) && !FAILED_ATTRIBUTES.includes(attribute);

/** The ledger items of the submissions table, see {@link LedgerStore}. */
export function createLedgerStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): LedgerStore {
  const table = new DynamoTable(client, tableName, clock);

  /** Changes the item; makes it when it is absent or left over from an expired submission of the same id. */
  const upsert = async (submissionId: string, chunk: number, change: Change): Promise<LedgerChunk> => {
    const key = ledgerKey(submissionId, chunk);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const usable = expr`attribute_not_exists(#submissionId) OR ${table.unexpired()}`;
      const written = await table.update(key, updateOf(change), usable);
      if (written.applied) return parseLedger(written.item).chunk;
      const replaced = await table.update(key, replacementOf(change), expr`NOT (${usable})`);
      if (!replaced.applied) continue;
      const unknown = Object.keys(replaced.item).filter(isUnknownFailure);
      const leftOver = unknown.filter((attribute) => !change.add.some(([added]) => added === attribute)).map(named);
      if (leftOver.length === 0) return parseLedger(replaced.item).chunk;
      const cleared = await table.update(
        key,
        expr`REMOVE ${join(leftOver, ', ')}`,
        expr`attribute_exists(#submissionId)`,
      );
      if (cleared.applied) return parseLedger(cleared.item).chunk;
    }
    throw new DependencyUnavailableError(`The ledger ${submissionId}/${chunk} could not be written: too many races.`);
  };

  const find = async (submissionId: string, chunk: number): Promise<LedgerChunk | undefined> => {
    const item = await table.get(ledgerKey(submissionId, chunk));
    if (item === undefined) return undefined;
    const parsed = parseLedger(item);
    return parsed.expiresAtSeconds * 1000 > clock.now() ? parsed.chunk : undefined;
  };

  return {
    async mark(submissionId, chunk, marks, expiresAtSeconds) {
      return upsert(submissionId, chunk, { set: { expiresAtSeconds }, add: additionsOf(marks) });
    },

    async noteStarts(submissionId, starts, expiresAtSeconds) {
      await pLimit(PARALLEL_WRITES).map(starts, async ({ chunk, byteOffset, line, crc }) => {
        const checksum = crc === undefined ? {} : { k: crc };
        await upsert(submissionId, chunk, { set: { b: byteOffset, l: line, ...checksum, expiresAtSeconds }, add: [] });
      });
    },

    async setSize(submissionId, chunk, size, expiresAtSeconds) {
      return upsert(submissionId, chunk, { set: { n: size, expiresAtSeconds }, add: [] });
    },

    async reopen(submissionId, chunk, offsets) {
      if (offsets.length === 0) return (await find(submissionId, chunk)) ?? emptyChunk(chunk);
      const gone = new Set(offsets);
      const takeOut = async (attributes: readonly string[]): Promise<Written> => {
        const removals = attributes.map((attribute) => expr`${named(attribute)} ${gone}`);
        return table.update(ledgerKey(submissionId, chunk), expr`DELETE ${join(removals, ', ')}`, table.unexpired());
      };
      let written = await takeOut(['c', ...FAILED_ATTRIBUTES]);
      const unknown = written.applied ? Object.keys(written.item).filter(isUnknownFailure) : [];
      if (unknown.length > 0) written = await takeOut(unknown);
      return written.applied ? parseLedger(written.item).chunk : emptyChunk(chunk);
    },

    get: find,
  };
}
