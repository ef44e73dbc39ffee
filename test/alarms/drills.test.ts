import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Alarms, MetricStore } from '../../local/cloud/index.ts';
import { PAGE, runDrill, shortcomings } from './drill.ts';
import { DRILLS } from './drills/all.ts';
import { synthesizedStage, type SynthesizedStage } from './stage.ts';
import { tableOf } from './table.ts';

// Hours of virtual time each; the first one waits for the synthesis.
jest.setTimeout(300_000);

let stage: SynthesizedStage;
beforeAll(async () => {
  stage = await synthesizedStage('prod');
});

const drilled = new Set(DRILLS.flatMap(({ rings }) => Object.keys(rings)));

it('every synthesized alarm has a drill, and every drill is about alarms that there are', () => {
  const { definitions } = new Alarms({ resources: stage.resources, store: new MetricStore(), sinceMs: 0 });
  const places = definitions.map(({ place }) => place).filter((place) => place !== PAGE);
  expect([...drilled].sort()).toEqual(places.sort());
});

describe('a drill tells', () => {
  const drill = DRILLS.find(({ fault }) => fault === 'the schedule of the reconciler is disabled')!;

  it('an alarm that does not ring, one that should not, and one that is late', async () => {
    const rings = { 'SmallLane/Backlog': 5 };
    expect(shortcomings(await runDrill(stage, { ...drill, rings }))).toEqual([
      'SmallLane/Backlog did not ring',
      'Reconciliation/NotRunning rang',
    ]);
    const late = shortcomings(await runDrill(stage, { ...drill, rings: { 'Reconciliation/NotRunning': 5 } }));
    expect(late).toEqual([expect.stringMatching(/^Reconciliation\/NotRunning rang after 7\.\d+ minutes$/)]);
  });

  it('an alarm that rings before its fault, and one that rings twice', async () => {
    const flickering: typeof drill = {
      ...drill,
      lastsFor: 20,
      arrange: ({ simulation, from }) => {
        for (const minute of [from - 12, from + 6]) {
          simulation.at(minute, () => simulation.afflict('reconciler', { what: 'stopped' }));
          simulation.at(minute + 10, () => simulation.afflict('reconciler', undefined));
        }
      },
    };
    expect(shortcomings(await runDrill(stage, flickering))).toEqual([
      expect.stringMatching(/^Reconciliation\/NotRunning rang \d.* minutes before the fault$/),
      'Reconciliation/NotRunning rang 2 times',
      expect.stringMatching(/^Page\/Alarm rang \d.* minutes before the fault$/),
      'Page/Alarm rang 2 times',
    ]);
  });

  it('an alarm that rings on', async () => {
    const { arrange: _, ...calm } = drill;
    const forever: typeof drill = {
      ...calm,
      arrange: ({ simulation, from }) =>
        simulation.at(from, () => simulation.afflict('reconciler', { what: 'stopped' })),
    };
    expect(shortcomings(await runDrill(stage, forever))).toEqual([
      'Reconciliation/NotRunning did not become silent in time',
      `${PAGE} did not become silent in time`,
    ]);
  });

  it('in a table what rang when, and what else', async () => {
    const table = tableOf([await runDrill(stage, drill)]).split('\n');
    expect(table[0]).toMatch(/^\| alarm +\| fault +\| rang after +\| silent after +\| others that rang +\|$/);
    expect(table[2]).toMatch(
      /^\| Reconciliation\/NotRunning +\| the schedule .*\| +7 min +\| +1 min +\| the pager +\|$/,
    );
  });
});
