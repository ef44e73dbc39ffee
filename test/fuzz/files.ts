/**
 * Sends damaged and generated files through the pipeline in memory and checks that each ends in a clear state with every record once,
 * and that its preview said so.
 *
 * `npm run fuzz:files -- --files N --seed N`
 */
import { parseArgs } from 'node:util';
import { CORPUS } from '../files/corpus/index.ts';
import { fuzzFile, inconsistencyOf, previewProblemOf } from '../support/files/fuzz.ts';
import { seededRandom } from '../support/memory/index.ts';
import { createPipeline } from '../support/pipeline.ts';

const { values } = parseArgs({
  options: { files: { type: 'string', default: '5000' }, seed: { type: 'string', default: '1' } },
});
const random = seededRandom(Number(values.seed));
const states = new Map<string, number>();
let wrong = 0;
for (let count = 0; count < Number(values.files); count++) {
  const file = fuzzFile(random, CORPUS);
  const { name, bytes, profile } = file;

  const outcome = await createPipeline().upload(bytes, name, { profile });
  const { state, reason = '' } = outcome.submission;
  const end = `${state} ${reason}`;
  states.set(end, (states.get(end) ?? 0) + 1);
  const problem = inconsistencyOf(outcome) ?? (await previewProblemOf(createPipeline().api, file, outcome));
  if (problem === undefined) continue;
  wrong += 1;
  console.error(`${problem}\n${name} ${JSON.stringify(profile)}\n${Buffer.from(bytes).toString('base64')}`);
}
for (const [end, count] of [...states].toSorted((a, b) => b[1] - a[1]))
  console.log(`${String(count).padStart(6)} ${end}`);
console.log(wrong === 0 ? 'Every file ended in a clear state.' : `${wrong} files did not: see above.`);
process.exitCode = wrong === 0 ? 0 : 1;
