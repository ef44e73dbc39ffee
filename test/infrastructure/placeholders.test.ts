import { App } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { defineStage } from '../../config/stage.ts';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import sandbox from '../../config/stages/sandbox.ts';
import { placeholdersOf } from '../../lib/placeholders.ts';
import { addSluice } from '../../lib/sluice.ts';

const configured = defineStage({
  ...prod,
  alarms: { email: 'on-call@acme.io', runbookUrl: 'https://wiki.acme.io/sluice' },
  providers: { company: { baseUrl: 'https://api.company.io' }, geo: { baseUrl: 'https://api.geo.io/v2' } },
});
const fieldsOf = (stage: typeof prod): string[] => placeholdersOf(stage).map(({ field }) => field);

describe('placeholders of a stage', () => {
  it('are the hosts and addresses that belong to nobody', () => {
    const providers = ['providers.company.baseUrl', 'providers.geo.baseUrl'];
    expect(fieldsOf(prod)).toEqual([...providers, 'alarms.email', 'alarms.runbookUrl']);
    expect(fieldsOf(dev)).toEqual(providers);
    expect(fieldsOf(configured)).toEqual([]);
  });

  it('are told with the value and where to set it', () => {
    expect(placeholdersOf(prod)[2]?.problem).toBe(
      'is on-call@example.com, which nobody reads: set it in config/stages/prod.ts',
    );
  });

  it.each(['example.com', 'api.example', 'api.test', 'a.b.example.org', 'host.invalid'])('%s is one', (host) => {
    const stage = { ...configured, providers: { ...configured.providers, geo: { baseUrl: `https://${host}` } } };
    expect(fieldsOf(stage)).toEqual(['providers.geo.baseUrl']);
  });

  it.each(['myexample.com', 'example.com.acme.io', 'example.io'])('%s is none', (host) => {
    const stage = { ...configured, providers: { ...configured.providers, geo: { baseUrl: `https://${host}` } } };
    expect(fieldsOf(stage)).toEqual([]);
  });
});

describe('a stage with placeholders', () => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const sluice = addSluice(app, prod);

  it.each(['data', 'pipeline'] as const)('cannot be deployed: a rule of the %s stack refuses it first', (stack) => {
    const { Rules } = Template.fromStack(sluice[stack]).toJSON();
    expect(Rules).toHaveProperty(
      'PlaceholdersAreReplaced.Assertions',
      placeholdersOf(prod).map(({ field, problem }) => ({
        Assert: { 'Fn::Equals': ['placeholder', 'replaced'] },
        AssertDescription: `${field} ${problem}. The stage sandbox needs no providers.`,
      })),
    );
  });
});

it.each([configured, sandbox])('the stage $name can be deployed', (stage) => {
  const sluice = addSluice(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), stage);
  for (const stack of [sluice.data, sluice.pipeline]) {
    expect(Template.fromStack(stack).toJSON()).not.toHaveProperty('Rules.PlaceholdersAreReplaced');
    Annotations.fromStack(stack).hasNoWarning('*', Match.anyValue());
  }
});

it('stand-ins are refused where data is kept', () => {
  expect(() => defineStage({ ...prod, standInProviders: true })).toThrow(
    /standInProviders is true, but protection is "retain"/,
  );
});
