import { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import sandbox from '../../config/stages/sandbox.ts';
import type { Stage } from '../../config/stage.ts';
import { addSluice } from '../../lib/sluice.ts';
import { checkAgainstRules, suppressions } from '../../lib/suppressions.ts';

interface Finding {
  id: string;
  path: string;
}

const newApp = () => new App({ context: { 'aws:cdk:bundling-stacks': [] } });

function findingsIn(app: App): Finding[] {
  return new AwsSolutionsChecks()
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => ({ id: ruleName, path: constructPath ?? '' })),
    );
}

/** What the rules find when nothing is accepted, and what of that is to be accepted. */
function unaccepted(stage: Stage) {
  const app = newApp();
  const sluice = addSluice(app, stage);
  const accepted = suppressions(sluice).flatMap(({ id, stack, paths, reason }) =>
    paths.map((path) => ({ id, reason, path: `${sluice[stack].stackName}/${path}` })),
  );
  // References between the stacks are resolved by the synthesis.
  app.synth({ validateOnSynthesis: false });
  return { findings: findingsIn(app), accepted };
}

describe.each([dev, sandbox, prod, { ...prod, name: 'locked', encryption: 'customer' as const }])(
  'the stage $name',
  (stage) => {
    it('has no finding that is not accepted', () => {
      const app = newApp();
      checkAgainstRules(app, addSluice(app, stage));
      app.synth();
      expect(findingsIn(app)).toEqual([]);
    });
  },
);

it('every accepted finding still exists where it is accepted', () => {
  const { findings, accepted } = unaccepted(dev);
  const stale = accepted.filter(
    ({ id, path }) => !findings.some((finding) => finding.id === id && `${finding.path}/`.startsWith(`${path}/`)),
  );
  expect(stale).toEqual([]);
  expect(findings.length).toBeGreaterThanOrEqual(accepted.length);
});

it('every accepted finding has a reason that can be read', () => {
  for (const { reason } of unaccepted(dev).accepted) expect(reason).toMatch(/^[A-Z].{40,}\.$/);
});
