import { createHmac } from 'node:crypto';
import type { Random } from '../time.ts';
import type { Secrets } from './model.ts';

/* Signatures as the Standard Webhooks specification has them, https://www.standardwebhooks.com */

const PREFIX = 'whsec_';
/** Between 24 and 64 bytes are asked for. */
const SECRET_BYTES = 32;

/** @param random - a source that nobody can foresee */
export const newSecret = (random: Random): string =>
  PREFIX + Buffer.from(Array.from({ length: SECRET_BYTES }, () => Math.floor(random() * 256))).toString('base64');

/** The headers that identify a delivery and prove who sent it; without secrets nothing proves it. */
export function signedHeaders(
  { eventId, body }: { eventId: string; body: string },
  secrets: Secrets | undefined,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
  };
  const valid = secrets === undefined ? [] : [secrets.current, ...previousOf(secrets, nowMs)];
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    ...(valid.length > 0 && { 'webhook-signature': valid.map(sign).join(' ') }),
  };
}

const previousOf = ({ previous, previousUntilMs = 0 }: Secrets, nowMs: number): string[] =>
  previous === undefined || previousUntilMs <= nowMs ? [] : [previous];
