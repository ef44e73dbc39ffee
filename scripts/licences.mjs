/**
 * Lists the third-party packages that are inside the functions' bundles, with their licences, in docs/third-party.md.
 *
 * `npm run licences` writes the list; `-- --check` only compares, and fails for a licence that is not in AGREED, or for
 * a package that would have to run a script when it is installed.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { requireNode } from './require-node.mjs';

await requireNode();
const { build } = await import('esbuild');

const root = resolve(import.meta.dirname, '..');
const file = join(root, 'docs', 'third-party.md');

/** Licences that require their notice and nothing else. */
const AGREED = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0']);

const manifestSchema = v.object({ name: v.string(), version: v.string(), license: v.string() });
const lockSchema = v.object({
  packages: v.record(v.string(), v.object({ hasInstallScript: v.optional(v.boolean(), false) })),
});

/** @typedef {{ name: string, version: string, licence: string, functions: Set<string>, hasInstallScript: boolean }} Package */

const packages = await bundledPackages();
const problems = packages.flatMap(({ name, version, licence, hasInstallScript }) => [
  ...(AGREED.has(licence)
    ? []
    : [`${name} ${version} has the licence ${licence}: agree to it, or leave the package out.`]),
  ...(hasInstallScript ? [`${name} ${version} runs a script when it is installed: what ships must not need one.`] : []),
]);
const content = documentOf(packages);
if (!process.argv.includes('--check')) writeFileSync(file, content);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== content) {
  problems.push('docs/third-party.md does not list what is in the bundles: run `npm run licences`.');
}
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${packages.length} packages are in the bundles, all under licences agreed to.`);
process.exitCode = problems.length === 0 ? 0 : 1;

/**
 * Bundles every function as lib/constructs/pipeline-function.ts does, and looks which packages left bytes in the output.
 *
 * @returns {Promise<Package[]>} by name
 */
async function bundledPackages() {
  const functions = readdirSync(join(root, 'lambdas')).filter((name) =>
    existsSync(join(root, 'lambdas', name, 'handler.ts')),
  );
  const lock = v.parse(lockSchema, JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  /** @type {Map<string, Package>} */
  const byName = new Map();
  for (const name of functions) {
    for (const place of await placesIn(name)) {
      const found = packageAt(place, lock);
      const known = byName.get(`${found.name} ${found.version}`) ?? found;
      known.functions.add(name);
      byName.set(`${found.name} ${found.version}`, known);
    }
  }
  return [...byName.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/**
 * @param {string} name of a function
 * @returns {Promise<Set<string>>} package directories such as `node_modules/valibot`
 */
async function placesIn(name) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join('lambdas', name, 'handler.ts')],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    preserveSymlinks: true,
    outdir: 'unused',
    logLevel: 'error',
  });
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const places = inputs.map(([path]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return new Set(places.filter((place) => place !== undefined));
}

/**
 * @param {string} place
 * @param {v.InferOutput<typeof lockSchema>} lock
 * @returns {Package}
 */
function packageAt(place, lock) {
  const text = readFileSync(join(root, place, 'package.json'), 'utf8');
  const { name, version, license } = v.parse(manifestSchema, JSON.parse(text));
  const hasInstallScript = lock.packages[place]?.hasInstallScript === true;
  return { name, version, licence: license, functions: new Set(), hasInstallScript };
}

/**
 * As prettier writes a table.
 *
 * @param {readonly Package[]} listed
 */
function documentOf(listed) {
  const every = new Set(listed.flatMap(({ functions }) => [...functions])).size;
  const rows = [
    ['package', 'version', 'licence', 'in the bundles of'],
    ...listed.map(({ name, version, licence, functions }) => [
      `\`${name}\``,
      version,
      licence,
      functions.size === every ? 'all' : [...functions].sort().join(', '),
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [header = [], ...body] = rows;
  return `# Third-party packages in the bundles

What is deployed with the functions, beside Sluice itself. \`npm run licences\` writes this list from the bundler's own account of
them; \`npm run check\` fails when it is not true any more, and for any licence but ${[...AGREED].join(', ')}.

${[line(header), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')}
`;
}
