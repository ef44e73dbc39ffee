import { createPipeline, type Outcome } from '../support/pipeline.ts';
import { COMPANIES, type CorpusFile } from './corpus/corpus.ts';
import { CORPUS } from './corpus/index.ts';

const usedOf = ({ succeeded }: Outcome) => succeeded.map(({ used, record }) => used ?? record);

interface Proposed {
  file: string;
  isRight: boolean;
  asks: boolean;
  why: unknown;
}

/** Previews a file as its customer has it, and submits it with what the preview proposes. */
async function propose({ name, bytes, records, failed = [], rejected, profile }: CorpusFile): Promise<Proposed> {
  const pipeline = createPipeline();
  const uploadId = await pipeline.api.upload(bytes, { fileName: name });
  const { status, body } = await pipeline.api.call('POST', '/v1/previews', { body: { uploadId } });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  const asks = body.questions.length > 0;
  const applied = body.asProposed?.profile;
  const outcome = await pipeline.upload(bytes, name, applied === undefined ? {} : { profile: applied });
  const { state, reason } = outcome.submission;
  const expected = records ?? COMPANIES;
  if (rejected) {
    // Refused before it is submitted, for the same reason; or made right.
    const told = body.asProposed?.refused?.code ?? body.asGiven.refused?.code;
    const isRight = state === 'complete' || told === reason;
    return { file: name, isRight, asks, why: { told, state, reason, profile } };
  }
  const found = usedOf(outcome);
  const isRight =
    state !== 'rejected' &&
    outcome.failed.length <= failed.length &&
    expected.every((fields) => found.some((used) => covers(used, fields)));
  return { file: name, isRight, asks, why: { state, reason, applied, found, questions: body.questions } };
}

const covers = (used: unknown, fields: object): boolean =>
  Object.entries(fields).every(
    ([name, value]) => typeof used === 'object' && used !== null && Reflect.get(used, name) === value,
  );

test('the proposal, applied unchanged, is right for four of five files, and asks about the rest', async () => {
  const proposals: Proposed[] = [];
  for (const file of CORPUS) proposals.push(await propose(file));
  const wrong = proposals.filter(({ isRight, asks }) => !isRight && !asks);
  expect(wrong.map(({ file, why }) => ({ file, why }))).toEqual([]);
  const right = proposals.filter(({ isRight }) => isRight);
  expect(right.length / proposals.length).toBeGreaterThanOrEqual(0.8);
});
