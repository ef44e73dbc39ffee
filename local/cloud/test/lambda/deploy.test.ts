import { afterAll, afterEach, expect, test } from '@jest/globals';
import type { LocalFunctions } from '../../lambda/functions.ts';
import { FunctionBed } from '../support/functions.ts';

const bed = new FunctionBed();
afterEach(() => bed.stop());
afterAll(() => bed.remove());

const invoke = async (functions: LocalFunctions, ms = 0): Promise<unknown> => {
  const { payload } = await functions.invoke({
    functionName: 'greet',
    payload: JSON.stringify({ ms }),
    invocationType: 'RequestResponse',
    principal: 'arn:aws:iam::123456789012:root',
    logType: 'None',
  });
  return JSON.parse(payload);
};

test('another version answers from its deployment on; what runs meanwhile ends with the version that it began with', async () => {
  const code = `export const handler = async ({ ms }) => {
    await new Promise((done) => setTimeout(done, ms)); return process.env.WORD; };`;
  const properties = { Environment: { Variables: { WORD: 'one' } } };
  const functions = await bed.start({ greet: { code, properties } }, { overrides: { WORD: 'two' } });
  expect(await invoke(functions)).toBe('two');
  const running = invoke(functions, 300);
  functions.deploy('greet', { environment: { WORD: 'three' } });
  expect(await invoke(functions)).toBe('three');
  expect(await running).toBe('two');
  expect(functions.specs.map(({ environment }) => environment)).toEqual([{ WORD: 'three' }]);
});

test('a function that the templates do not declare cannot be deployed', async () => {
  const functions = await bed.start({ greet: { code: 'export const handler = async () => 1;' } });
  expect(() => functions.deploy('other', {})).toThrow('There is no function other');
});
