import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marshall } from '@aws-sdk/util-dynamodb';
import prod from '../../config/stages/prod.ts';
import { headKey } from '../../lambdas/adapters/dynamodb/submission-item.ts';
import { synthesize } from './synthesized.ts';

const runbook = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'runbook.md'), 'utf8');
/** What somebody on call pastes first. */
const helpers = /```bash\nSTAGE=prod\n([^]*?)```/.exec(runbook)?.[1] ?? '';

/** Runs commands in bash after the runbook's helpers, with an `aws` that answers as told. */
const run = (aws: string, commands: string): string =>
  execFileSync('bash', ['-c', `STAGE=prod\naws() { ${aws}\n}\n${helpers}\n${commands}`], {
    encoding: 'utf8',
    timeout: 30_000,
  });

describe('physical', () => {
  const { resources } = synthesize(prod);
  const ids = resources.filter(({ stack }) => stack === 'pipeline').map(({ id }) => id);
  /** What CloudFormation lists: an id of the template, and something that was made of it. */
  const stack = `cat <<'LIST'\n${ids.map((id) => `${id}\tmade-of-${id}`).join('\n')}\nLIST`;
  const asked = [...runbook.matchAll(/\$?\(?physical ([\w${}]+)/g)].flatMap(([, name = '']) =>
    name.includes('${LANE}') ? ['SmallLane', 'BulkLane'].map((lane) => name.replace('${LANE}', lane)) : [name],
  );
  const names = [...new Set([...asked, 'FinalizationFinalizerEventSource'])];

  it('is asked for resources of both lanes and of everything else that can stand still', () => {
    expect(names.length).toBeGreaterThan(6);
  });

  it('names exactly one resource for everything that the runbook asks it', () => {
    const lines = run(stack, names.map((name) => `echo "${name} = $(echo $(physical ${name}))"`).join('\n'));
    const expected = names.map((name) => {
      const [found, ...others] = ids.filter((id) => id.slice(0, -8) === name);
      expect({ name, found: typeof found, others }).toEqual({ name, found: 'string', others: [] });
      return `${name} = made-of-${found}`;
    });
    expect(lines.trim().split('\n')).toEqual(expected);
  });
});

describe('open_submissions', () => {
  const created = { sub_early: 1_000, sub_late: 30_000, sub_between: 9_000 };
  const items = Object.entries(created).map(([id, atMs]) => `${atMs}\t${id}`);
  /** The index of open submissions knows their ids only, in another order, and each in one shard. */
  const table = (found: readonly string[]): string => `case "$2" in
    query) case "$*" in *open#2*) printf '%s\\n' ${found.join(' ') || 'None'};; *) echo None;; esac;;
    batch-get-item) echo "$4" >&3; printf '%b\\n' ${items.map((item) => `'${item}'`).join(' ')};;
  esac`;

  it('names them oldest first, by the time in their items', () => {
    const ids = ['sub_between', 'sub_early', 'sub_late'];
    expect(run(table(ids), 'open_submissions 3>/dev/null').trim().split('\n')).toEqual([
      'sub_early',
      'sub_between',
      'sub_late',
    ]);
    const request = run(table(ids), 'SUBMISSIONS_TABLE=subs; open_submissions 3>&1 >/dev/null');
    const keys = ids.map((id) => marshall(headKey(id)));
    expect(JSON.parse(request)).toEqual({ subs: { Keys: keys } });
  });

  it('names nothing, and asks for nothing, when everything is finished', () => {
    expect(run(table([]), 'open_submissions 3>&1')).toBe('');
  });
});

describe('ask', () => {
  /** A query that is in these states, one after the other. */
  const logs = (states: readonly string[]): string => `case "$2 $*" in
    start-query*) echo query-1;;
    *'--query status '*) set -- ${states.join(' ')}; echo x >> "$SEEN"; n=$(grep -c x "$SEEN"); echo "\${!n}";;
    get-query-results*) echo rows;;
  esac`;
  const prepare = 'SEEN=$(mktemp); sleep() { :; }';

  it('waits until the answer is complete', () => {
    expect(run(logs(['Scheduled', 'Running', 'Complete']), `${prepare}; ask q 2>&1`)).toBe('rows\n');
  });

  it.each(['Failed', 'Cancelled', 'Timeout'])('ends, and says so, when the query ends as %s', (state) => {
    expect(run(logs(['Running', state]), `${prepare}; ask q 2>&1`)).toBe(`The query ended as: ${state}\nrows\n`);
  });
});
