import { readFileSync } from 'node:fs';
import { OPERATIONS, type Operation } from '../../lambdas/domain/api/operations.ts';
import { PROBLEMS } from '../../lambdas/domain/api/problems.ts';
import { SUBMISSION_STATES, RECORD_STATES } from '../../lambdas/domain/model.ts';

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );

test('every problem is told with its status and meaning, and no other', () => {
  const told = rows.filter(([, status]) => /^\d{3}$/.test(status ?? ''));
  const known = Object.entries(PROBLEMS).map(([code, { status, title }]) => [`\`${code}\``, String(status), title]);
  expect(told).toEqual(known);
});

test('every call is told with its parameters, its success and its scope', () => {
  for (const { method, path, query, body, success, scope = '–' } of Object.values<Operation>(OPERATIONS)) {
    const ofCall = rows.filter(([call = '']) =>
      [' ', '`', '?'].some((end) => call.startsWith(`\`${method} ${path}${end}`)),
    );
    expect([path, ofCall.length > 0]).toEqual([path, true]);
    const calls = ofCall.map(([call]) => call).join(' ');
    for (const parameter of Object.keys(query.entries)) expect(calls).toContain(`${parameter}=`);
    for (const member of Object.keys(body?.json.entries ?? {})) expect(calls).toContain(member);
    for (const [, answer, allowed] of ofCall) {
      expect(answer).toMatch(new RegExp(`^${success.status} `));
      expect(allowed).toContain(scope);
    }
  }
});

test('every state is told', () => {
  for (const state of [...SUBMISSION_STATES, ...RECORD_STATES]) expect(page).toMatch(new RegExp(`\\b${state}\\b`));
});
