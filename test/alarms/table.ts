import { markdownTable } from 'markdown-table';
import { PAGE, type DrillResult } from './drill.ts';

const HEAD = ['alarm', 'fault', 'rang after', 'silent after', 'others that rang'] as const;

const minutes = (value: number | undefined): string => (value === undefined ? 'never' : `${Math.round(value)} min`);

/** A row for every alarm that a drill is about: when it rang, when it was silent again, and what rang with it. */
export function tableOf(results: readonly DrillResult[]): string {
  const rows = results.flatMap(({ drill, ringings }) => {
    const [first, ...rest] = Object.keys(drill.rings);
    const places = first === undefined ? [] : [first, ...rest];
    if (places.length === 0)
      return [['(none)', drill.fault, '', '', ringings.map(({ alarm }) => alarm.place).join(', ')]];
    return places.map((place) => {
      const own = ringings.find(({ alarm }) => alarm.place === place);
      const others = ringings.map(({ alarm }) => alarm.place).filter((other) => other !== place);
      return [
        place,
        drill.fault,
        minutes(own?.after),
        minutes(own?.silentAfter),
        others.map((other) => (other === PAGE ? 'the pager' : other)).join(', '),
      ];
    });
  });
  return markdownTable([[...HEAD], ...rows]);
}
