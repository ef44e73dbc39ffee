import type { Transition } from './alarms.ts';

/** A transition in one line for the terminal: time, alarm, states, reason. */
export function alarmLine({ atMs, alarm, from, to, reason }: Transition): string {
  const time = new Date(atMs).toISOString().slice(11, 19);
  return `${time}  ${alarm.place}  ${from} → ${to}  ${reason}`;
}
