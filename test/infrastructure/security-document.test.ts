import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { sectionIn, sectionsOf, withSection } from '../../lib/security-document.ts';

const document = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'security.md'), 'utf8');
const sections = sectionsOf(prod);

describe('docs/security.md', () => {
  it('says who may do what as the templates do; `npm run grants` brings it up to date', () => {
    expect(sectionIn(document, 'grants')).toBe(sections.grants);
    expect(sections.grants.split('\n').length).toBeGreaterThan(45);
  });

  it('lists every finding that is accepted, with its reason; `npm run grants` brings it up to date', () => {
    expect(sectionIn(document, 'accepted')).toBe(sections.accepted);
  });

  it('names every resource as the templates do, and not by an id', () => {
    expect(sections.grants).not.toMatch(/`[^`]*[0-9A-F]{8}[^`]*`/);
    expect(sections.grants).toContain('`Tables/Submissions/index/byTenant`');
    expect(sections.grants).toContain('`Files/Bucket/uploads/*`');
  });

  it('goes for every stage: the roles are the same, whatever a stage sets', () => {
    for (const stage of [dev, { ...prod, encryption: 'customer' as const }]) {
      expect(sectionsOf(stage).grants).toBe(sections.grants);
    }
  });

  it('changes where the templates do, and nowhere else', () => {
    const widened = withSection(document, 'grants', `${sections.grants}\n| status | WriteAll | … | … |`);
    expect(sectionIn(widened, 'grants')).toMatch(/WriteAll/);
    expect(widened.replace('\n| status | WriteAll | … | … |', '')).toBe(document);
    expect(() => sectionIn('# Security', 'grants')).toThrow(/lacks the marks/);
  });
});
