import * as v from 'valibot';
import { InvalidDataError } from '../../domain/errors.ts';
import { isOpen, type Submission } from '../../domain/model.ts';
import type { SubmissionStore, UnreadableItem } from '../../domain/submissions/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { parseItem, type Item, type QueryInput } from './dynamo.ts';
import { expr } from './expression.ts';
import { BY_TENANT_INDEX, headKey, OPEN_INDEX, OPEN_SHARD_KEYS, parseHead } from './submission-item.ts';
import type { SubmissionTable } from './submission-table.ts';

type Lists = Pick<SubmissionStore, 'listByTenant' | 'listAll' | 'listDue' | 'listOpen'>;

/** A place in an index: the index's sort key and the submission. */
const positionSchema = v.tuple([
  v.pipe(v.number(), v.safeInteger()),
  // Of a size that a key may have: a forged place is refused here and not by the table.
  v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
]);
type Position = v.InferOutput<typeof positionSchema>;
/** A place in the index of open submissions: the shard, and the place in it (its beginning when null). */
const openPositionSchema = v.tuple([v.picklist(OPEN_SHARD_KEYS), v.nullable(positionSchema)]);

const byTenantEntry = v.object({ submissionId: v.string(), createdAtMs: v.number() });
const byTenantKey = v.object({ tenantId: v.string(), createdAtMs: v.number(), submissionId: v.string() });
const openEntry = v.object({ submissionId: v.string(), nextCheckAtMs: v.number() });

/** Index entries that one call looks at, at most: a filter that matches nothing answers with a cursor, not with a timeout. */
const MAX_EXAMINED = 1000;
const MAX_PAGE = 100;
/** Fewer are not worth a request. */
const MIN_PAGE = 10;

const pageFor = (limit: number): number => Math.min(Math.max(limit, MIN_PAGE), MAX_PAGE);

interface Heads {
  byId: Map<string, Submission>;
  unreadable: UnreadableItem[];
}

interface Scanned {
  items: Submission[];
  unreadable: UnreadableItem[];
  next?: Position;
}

interface Scan {
  query: QueryInput;
  limit: number;
  /** Entries per query. */
  page: number;
  accept(head: Submission): boolean;
  positionOf(entry: Item): Position;
  keyAt(position: Position): Item;
  from: Position | null;
  /** Of the heads: a list for customers is behind the table anyway, and costs half. */
  read: 'consistent' | 'eventual';
}

/** The submissions table read through its indexes, which hold keys only: an index page, then the heads by key. */
export function submissionLists(table: SubmissionTable): Lists {
  /** Unexpired heads by id. One that cannot be read hides no other. */
  const headsOf = async (ids: readonly string[], read: 'consistent' | 'eventual' = 'consistent'): Promise<Heads> => {
    const heads: Heads = { byId: new Map(), unreadable: [] };
    for (const item of await table.table.getMany(ids.map(headKey), read)) {
      try {
        const head = parseHead(item);
        if (!table.isExpired(head)) heads.byId.set(head.submission.submissionId, head.submission);
      } catch (error) {
        if (!(error instanceof InvalidDataError)) throw error;
        heads.unreadable.push({ submissionId: String(item['submissionId']), error });
      }
    }
    return heads;
  };

  /** Accepted heads in index order; `next` when there may be more behind them. */
  const scan = async (request: Scan): Promise<Scanned> => {
    const items: Submission[] = [];
    const unreadable: UnreadableItem[] = [];
    let position = request.from;
    for (let examined = 0; examined < MAX_EXAMINED; examined += request.page) {
      const after = position === null ? {} : { after: request.keyAt(position) };
      const page = await table.table.queryPage({ ...request.query, limit: request.page, ...after });
      const places = page.items.map((entry) => request.positionOf(entry));
      const heads = await headsOf(
        places.map(([, submissionId]) => submissionId),
        request.read,
      );
      unreadable.push(...heads.unreadable);
      for (const [index, place] of places.entries()) {
        const head = heads.byId.get(place[1]);
        if (head !== undefined && request.accept(head)) items.push(head);
        const isLast = index === places.length - 1 && page.next === undefined;
        if (items.length === request.limit && !isLast) return { items, unreadable, next: place };
      }
      if (page.next === undefined) return { items, unreadable };
      position = request.positionOf(page.next);
    }
    return position === null ? { items, unreadable } : { items, unreadable, next: position };
  };

  const scanShard = async (shard: string, dueAtMs: number, limit: number, from: Position | null): Promise<Scanned> =>
    scan({
      query: { index: OPEN_INDEX, where: expr`#openShard = ${shard} AND #nextCheckAtMs <= ${dueAtMs}` },
      limit,
      page: pageFor(limit),
      // The index is behind the table: look at what is due now.
      accept: ({ state, nextCheckAtMs }) => isOpen(state) && nextCheckAtMs !== undefined && nextCheckAtMs <= dueAtMs,
      positionOf: (entry) => {
        const { nextCheckAtMs, submissionId } = parseItem(openEntry, entry, 'entry of the index open');
        return [nextCheckAtMs, submissionId];
      },
      keyAt: ([nextCheckAtMs, submissionId]) => ({ ...headKey(submissionId), openShard: shard, nextCheckAtMs }),
      from,
      read: 'consistent',
    });

  return {
    async listByTenant({ tenantId, state, limit, cursor }) {
      const scope = `tenant ${tenantId}`;
      const { items, unreadable, next } = await scan({
        query: { index: BY_TENANT_INDEX, where: expr`#tenantId = ${tenantId}`, descending: true },
        limit,
        page: state === undefined ? pageFor(limit) : MAX_PAGE,
        accept: (head) => state === undefined || head.state === state,
        positionOf: (entry) => {
          const { createdAtMs, submissionId } = parseItem(byTenantEntry, entry, 'entry of the index byTenant');
          return [createdAtMs, submissionId];
        },
        keyAt: ([createdAtMs, submissionId]) => ({ ...headKey(submissionId), tenantId, createdAtMs }),
        from: cursor === undefined ? null : decodeCursor(scope, positionSchema, cursor),
        read: 'eventual',
      });
      return next === undefined ? { items, unreadable } : { items, unreadable, nextCursor: encodeCursor(scope, next) };
    },

    async listAll({ limit, cursor }) {
      const from = cursor === undefined ? undefined : decodeCursor('all', byTenantKey, cursor);
      const after = from && { ...headKey(from.submissionId), ...from };
      const page = await table.table.scanPage({ index: BY_TENANT_INDEX, limit, ...(after && { after }) });
      const ids = page.items.map(
        (entry) => parseItem(byTenantEntry, entry, 'entry of the index byTenant').submissionId,
      );
      const { byId, unreadable } = await headsOf(ids);
      const items = ids.flatMap((submissionId) => byId.get(submissionId) ?? []);
      if (page.next === undefined) return { items, unreadable };
      const next = parseItem(byTenantKey, page.next, 'key of the index byTenant');
      return { items, unreadable, nextCursor: encodeCursor('all', next) };
    },

    async listDue({ nowMs, limit }) {
      const shards = await Promise.all(OPEN_SHARD_KEYS.map(async (shard) => scanShard(shard, nowMs, limit, null)));
      const due = shards.flatMap(({ items }) => items);
      return due.toSorted((a, b) => (a.nextCheckAtMs ?? 0) - (b.nextCheckAtMs ?? 0)).slice(0, limit);
    },

    async listOpen({ limit, cursor }) {
      const [first = '', from] =
        cursor === undefined ? [OPEN_SHARD_KEYS[0], null] : decodeCursor('open', openPositionSchema, cursor);
      const items: Submission[] = [];
      const unreadable: UnreadableItem[] = [];
      for (const shard of OPEN_SHARD_KEYS.slice(OPEN_SHARD_KEYS.indexOf(first))) {
        if (items.length >= limit) return { items, unreadable, nextCursor: encodeCursor('open', [shard, null]) };
        const slice = await scanShard(
          shard,
          Number.MAX_SAFE_INTEGER,
          limit - items.length,
          shard === first ? from : null,
        );
        items.push(...slice.items);
        unreadable.push(...slice.unreadable);
        if (slice.next !== undefined)
          return { items, unreadable, nextCursor: encodeCursor('open', [shard, slice.next]) };
      }
      return { items, unreadable };
    },
  };
}
