import { App } from 'aws-cdk-lib';
import cdkConfig from '../cdk.json' with { type: 'json' };
import type { Stage } from '../config/stage.ts';
import { acceptedTable, grantsOf, grantsTable } from './grants.ts';
import { addSluice } from './sluice.ts';

/** The parts of docs/security.md that come from the templates. */
export const SECTIONS = ['grants', 'accepted'] as const;
export type Section = (typeof SECTIONS)[number];

/** Synthesizes a stage without its bundles, and answers what the document says about it. */
export function sectionsOf(stage: Stage): Record<Section, string> {
  const app = new App({ context: { ...cdkConfig.context, 'aws:cdk:bundling-stacks': [] } });
  const sluice = addSluice(app, stage);
  const accepted = acceptedTable(sluice);
  return { accepted, grants: grantsTable(grantsOf(app, sluice)) };
}

const marks = (section: Section): [string, string] => [
  `<!-- generated ${section}: npm run grants -->`,
  `<!-- end ${section} -->`,
];

/** What stands in a document between the marks of a section. Throws when they are not there. */
export function sectionIn(document: string, section: Section): string {
  const [begin, end] = marks(section);
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`docs/security.md lacks the marks ${begin} … ${end}.`);
  return document.slice(from + begin.length, to).trim();
}

/** The document with a section replaced. */
export function withSection(document: string, section: Section, content: string): string {
  const [begin, end] = marks(section);
  const old = sectionIn(document, section);
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  return old === content ? document : `${document.slice(0, from)}${begin}\n\n${content}\n\n${document.slice(to)}`;
}
