import { fuzzFile, inconsistencyOf, previewProblemOf } from '../support/files/fuzz.ts';
import { seededRandom } from '../support/memory/index.ts';
import { createPipeline } from '../support/pipeline.ts';
import { CORPUS } from './corpus/index.ts';

const FILES = 150;
const small = CORPUS.filter(({ bytes }) => bytes.length < 5_000);

/** `npm run fuzz:files` tries more of them. */
test.each([1, 2])(
  'every file ends in a clear state with each of its records once, as its preview says (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const found: string[] = [];
    for (let count = 0; count < FILES; count++) {
      const file = fuzzFile(random, small);
      const { name, bytes, profile } = file;

      const outcome = await createPipeline().upload(bytes, name, { profile });
      const problem = inconsistencyOf(outcome) ?? (await previewProblemOf(createPipeline().api, file, outcome));
      if (problem !== undefined)
        found.push(`${problem} ${name} ${JSON.stringify(profile)} ${JSON.stringify(Buffer.from(bytes).toString())}`);
    }
    expect(found).toEqual([]);
  },
);

test('a file that is cut off at any byte ends in a clear state', async () => {
  const file = Buffer.from(
    '\uFEFFTitle\r\n\r\n"Record ID";domain;"no""te"\r\n1;"a.example";"x\r\ny"\r\n\r\n2;b.example;é\r\n',
  );
  for (let length = 0; length <= file.length; length++) {
    const outcome = await createPipeline().upload(file.subarray(0, length), 'a.csv', {});
    expect([length, inconsistencyOf(outcome)]).toEqual([length, undefined]);
  }
});
