import { beforeAll, expect, it, jest } from '@jest/globals';
import { isOpen } from '../../lambdas/domain/model.ts';
import type { MonitoredSimulation } from './monitored.ts';
import { synthesizedStage } from './stage.ts';
import { BIG_FILE_RECORDS, DAY_MINUTES, liveThroughADay } from './weekday.ts';

jest.setTimeout(300_000);

let day: MonitoredSimulation;
beforeAll(async () => {
  day = await liveThroughADay(await synthesizedStage('prod'));
});

it('no alarm rings on a weekday with bursts, a quiet night and a deploy', () => {
  const rang = day.transitions.filter(({ to }) => to !== 'OK');
  expect(rang.map(({ alarm, atMs, reason }) => `${new Date(atMs).toISOString()} ${alarm.place}: ${reason}`)).toEqual(
    [],
  );
});

it('every alarm was looked at, by what was measured', () => {
  expect(Object.values(day.alarms.states()).map(({ state }) => state)).toEqual(day.alarms.definitions.map(() => 'OK'));
  const minutesOf = (name: string): number =>
    Math.max(
      ...day.meter.store
        .list()
        .filter((metric) => metric.name === name)
        .map((metric) => day.meter.store.points(metric).length),
    );
  for (const name of ['ReconcilerRuns', 'ApproximateAgeOfOldestMessage', 'OldestUnfinishedAge']) {
    expect(minutesOf(name)).toBeGreaterThan(DAY_MINUTES - 10);
  }
});

it('the day had work, trouble, and an end for every file', () => {
  const submissions = day.world.inspect.submissions();
  expect(submissions.length).toBeGreaterThan(100);
  expect(submissions.filter(({ state }) => isOpen(state))).toEqual([]);
  expect(Math.max(...submissions.map(({ fanOut }) => fanOut.records))).toBe(BIG_FILE_RECORDS);
  expect(day.journal.stats.calls).toBeGreaterThan(3_000);
  expect(day.journal.stats.faults).toBeGreaterThan(10);
  expect(day.problems).toEqual([]);
});
