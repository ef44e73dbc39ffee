import { createGunzip, createInflateRaw } from 'node:zlib';
import { withinRatio } from '../../domain/prepare/bounds.ts';
import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import { through, type Blocks } from './blocks.ts';

const CHUNK = { chunkSize: 64 * 1024 };

/** Whatever zlib finds fault with is a fault of the file: it calls nobody. */
const damaged = (cause: unknown): UnreadableSourceError =>
  new UnreadableSourceError(
    'DAMAGED_FILE',
    'The compressed file is damaged or incomplete. Compress it again, or submit it uncompressed.',
    { cause },
  );

/** Unpacks gzip, of several members too, within the bounds of `withinRatio`. */
export const gunzip = (packed: Blocks): Blocks =>
  withinRatio(packed, (blocks) => through(blocks, createGunzip(CHUNK), damaged));

/** Unpacks the deflated data of a member of an archive, within the same bounds. */
export const inflate = (packed: Blocks): Blocks =>
  withinRatio(packed, (blocks) => through(blocks, createInflateRaw(CHUNK), damaged));
