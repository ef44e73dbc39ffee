import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import type { InvokeResult } from '../../contract.ts';
import type { InvocationReport, LocalFunctions } from '../../lambda/functions.ts';
import { FunctionBed, functionArn, resource } from '../support/functions.ts';

const bed = new FunctionBed();
afterEach(() => bed.stop());
afterAll(() => bed.remove());

const invoke = (functions: LocalFunctions, functionName: string, event: unknown = {}): Promise<InvokeResult> =>
  functions.invoke({
    functionName,
    payload: JSON.stringify(event),
    invocationType: 'RequestResponse',
    principal: 'arn:aws:iam::123456789012:root',
    logType: 'None',
  });

const texts = (functions: LocalFunctions, name: string): string[] => functions.logs.lines(name).map(({ text }) => text);

describe('an invocation', () => {
  test('gives the handler its event, its context and only its own environment', async () => {
    const code = `export const handler = async (event, context) => ({
      event, arn: context.invokedFunctionArn, memory: context.memoryLimitInMB, left: context.getRemainingTimeInMillis(),
      id: context.awsRequestId, environment: { ...process.env } });`;
    const functions = await bed.start(
      {
        echo: { code, properties: { Timeout: 30, MemorySize: 256, Environment: { Variables: { A: '1', URLS: 'x' } } } },
      },
      { overrides: { URLS: 'y', B: 'not declared' } },
    );
    const result = await invoke(functions, 'echo', { hello: 'wörld' });
    const answer: unknown = JSON.parse(result.payload);
    expect(result).toEqual({ statusCode: 200, payload: expect.any(String) });
    expect(answer).toMatchObject({ event: { hello: 'wörld' }, arn: functionArn('echo'), memory: '256' });
    expect(answer).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const { environment, left } = answer as { environment: Record<string, string>; left: number };
    expect(environment).toMatchObject({
      A: '1',
      URLS: 'y',
      AWS_LAMBDA_FUNCTION_NAME: 'echo',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_ACCESS_KEY_ID: 'role-of-echo echo',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    });
    expect(environment).not.toHaveProperty('B');
    expect(environment).not.toHaveProperty('HOME');
    expect(left).toBeGreaterThan(20_000);
    expect(left).toBeLessThanOrEqual(30_000);
  });

  test('reuses an environment, and starts another only when that one is busy', async () => {
    const code = `let calls = 0; export const handler = async ({ ms }) => {
      calls++; await new Promise((done) => setTimeout(done, ms)); return [process.pid, calls]; };`;
    const functions = await bed.start({ counter: { code } });
    const first = JSON.parse((await invoke(functions, 'counter', { ms: 0 })).payload);
    const again = JSON.parse((await invoke(functions, 'counter', { ms: 0 })).payload);
    expect(again).toEqual([first[0], 2]);
    const both = await Promise.all([
      invoke(functions, 'counter', { ms: 300 }),
      invoke(functions, 'counter', { ms: 300 }),
    ]);
    expect(new Set(both.map(({ payload }) => JSON.parse(payload)[0])).size).toBe(2);
    expect(functions.environments()).toEqual({ counter: 2 });
  });

  test('waits for its turn when the machine runs as many environments as it may', async () => {
    const code = `export const handler = async () => { await new Promise((done) => setTimeout(done, 20)); return process.pid; };`;
    const functions = await bed.start({ narrow: { code } }, { maxEnvironments: 2 });
    const results = await Promise.all(Array.from({ length: 9 }, () => invoke(functions, 'narrow')));
    expect(results.every(({ statusCode, functionError }) => statusCode === 200 && functionError === undefined)).toBe(
      true,
    );
    expect(new Set(results.map(({ payload }) => payload)).size).toBe(2);
  });

  test('above the reserved concurrency is throttled', async () => {
    const code = `export const handler = () => new Promise((done) => setTimeout(done, 300));`;
    const functions = await bed.start({ reserved: { code, properties: { ReservedConcurrentExecutions: 1 } } });
    const results = await Promise.all([invoke(functions, 'reserved'), invoke(functions, 'reserved')]);
    expect(results.map(({ statusCode }) => statusCode)).toEqual([200, 429]);
    expect((await invoke(functions, 'reserved')).statusCode).toBe(200);
  });

  test('of a payload above 6 MB is refused, and so is such an answer', async () => {
    const functions = await bed.start({
      big: { code: `export const handler = async ({ length }) => 'x'.repeat(length);` },
    });
    expect((await invoke(functions, 'big', { filler: 'x'.repeat(6 * 1024 * 1024) })).statusCode).toBe(413);
    const answer = await invoke(functions, 'big', { length: 6 * 1024 * 1024 });
    expect([answer.functionError, JSON.parse(answer.payload).errorType]).toEqual([
      'Unhandled',
      'Function.ResponseSizeTooLarge',
    ]);
  });

  test('of a function that is not in the templates names those that are', async () => {
    const functions = await bed.start({ known: { code: 'export const handler = async () => 1;' } });
    await expect(invoke(functions, 'missing')).rejects.toThrow(/no function missing .*known/);
    expect((await invoke(functions, functionArn('known'))).payload).toBe('1');
  });
});

describe('a failing function', () => {
  test('answers what it threw as an error object', async () => {
    const functions = await bed.start({
      thrower: {
        code: `class OddError extends Error { name = 'OddError' }; export const handler = async () => { throw new OddError('no'); };`,
      },
    });
    const result = await invoke(functions, 'thrower');
    expect(result.functionError).toBe('Unhandled');
    expect(JSON.parse(result.payload)).toMatchObject({
      errorType: 'OddError',
      errorMessage: 'no',
      trace: expect.any(Array),
    });
    expect(texts(functions, 'thrower').join('\n')).toMatch(/\tERROR\tInvoke Error .*OddError/);
  });

  test('is stopped at its timeout, and the next invocation gets a new environment', async () => {
    const code = `export const handler = async ({ wait }) => { console.log('before'); if (wait) await new Promise(() => setInterval(() => 0, 1000)); return process.pid; };`;
    const functions = await bed.start({ slow: { code, properties: { Timeout: 1 } } });
    const { payload: pid } = await invoke(functions, 'slow', {});
    const result = await invoke(functions, 'slow', { wait: true });
    expect(JSON.parse(result.payload)).toMatchObject({ errorType: 'Sandbox.Timedout' });
    expect(texts(functions, 'slow').join('\n')).toMatch(/before\n.* Task timed out after 1\.00 seconds\nEND/);
    expect((await invoke(functions, 'slow', {})).payload).not.toBe(pid);
  });

  test('that blocks its thread is stopped at its timeout too', async () => {
    const functions = await bed.start({
      spinning: { code: `export const handler = async () => { for (;;); };`, properties: { Timeout: 1 } },
    });
    expect((await invoke(functions, 'spinning')).payload).toContain('Task timed out after 1.00 seconds');
  });

  test.each([
    [
      'on the heap',
      `const kept = []; export const handler = async () => { for (;;) kept.push('x'.repeat(1000) + kept.length); };`,
    ],
    [
      'in buffers',
      `const kept = []; export const handler = async () => { for (;;) { kept.push(Buffer.alloc(1e6, 1)); await new Promise(setImmediate); } };`,
    ],
  ])('is killed when it takes more memory than it has, %s', async (_, code) => {
    const functions = await bed.start({ hungry: { code, properties: { Timeout: 60, MemorySize: 128 } } });
    const result = await invoke(functions, 'hungry');
    expect(JSON.parse(result.payload)).toMatchObject({
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringMatching(/Runtime exited with error: signal: (killed|aborted)/),
    });
  });

  test('that leaves a rejection unhandled loses its environment', async () => {
    const code = `export const handler = async ({ bad }) => {
      if (bad) { Promise.reject(new Error('forgotten')); await new Promise((done) => setTimeout(done, 5000)); } return process.pid; };`;
    const functions = await bed.start({ careless: { code, properties: { Timeout: 30 } } });
    const { payload: pid } = await invoke(functions, 'careless');
    const result = await invoke(functions, 'careless', { bad: true });
    expect(JSON.parse(result.payload)).toMatchObject({
      errorType: 'Runtime.UnhandledPromiseRejection',
      errorMessage: 'forgotten',
    });
    expect((await invoke(functions, 'careless')).payload).not.toBe(pid);
  });

  test.each([
    ['no such module', {}, { Handler: 'other.handler' }, 'Runtime.ImportModuleError'],
    ['no such export', {}, { Handler: 'index.main' }, 'Runtime.HandlerNotFound'],
  ])('with %s says so', async (_, __, properties, errorType) => {
    const functions = await bed.start({ broken: { code: 'export const handler = async () => 1;', properties } });
    expect(JSON.parse((await invoke(functions, 'broken')).payload)).toMatchObject({ errorType });
    expect(functions.environments()).toEqual({ broken: 0 });
  });

  test('that exits on its own tells its status', async () => {
    const functions = await bed.start({ quitter: { code: `export const handler = async () => process.exit(3);` } });
    expect((await invoke(functions, 'quitter')).payload).toContain('Runtime exited with error: exit status 3');
  });
});

describe('killing', () => {
  test('ends what is running, and says how much that was', async () => {
    const code = `export const handler = async () => { console.log('started'); await new Promise((done) => setTimeout(done, 20_000)); };`;
    const functions = await bed.start({ victim: { code, properties: { Timeout: 30 } } });
    const started = new Promise<void>((done) =>
      functions.logs.observe(({ text }) => text.includes('started') && done()),
    );
    const running = invoke(functions, 'victim');
    await started;
    expect(functions.kill(({ name }) => name === 'other')).toEqual({ killed: 0, busy: 0 });
    expect(functions.kill(({ name }) => name === 'victim')).toEqual({ killed: 1, busy: 1 });
    expect((await running).payload).toContain('signal: killed');
  });
});

describe('a function that cannot start', () => {
  test('reports what its module threw, which a handler that throws does not', async () => {
    const functions = await bed.start({
      broken: { code: `throw new Error('RATE is "x": set a number');` },
      failing: { code: `export const handler = async () => { throw new Error('not now'); };` },
    });
    const reports: InvocationReport[] = [];
    functions.onInvocation((report) => reports.push(report));
    await invoke(functions, 'broken');
    await invoke(functions, 'failing');
    expect(reports).toEqual([
      expect.objectContaining({ functionName: 'broken', outcome: 'failed', initError: 'RATE is "x": set a number' }),
      expect.objectContaining({ functionName: 'failing', outcome: 'failed', initError: undefined }),
    ]);
  });
});

describe('the log', () => {
  test('holds every line in order, between START and REPORT', async () => {
    const code = `console.log('at import'); export const handler = async () => {
      for (let i = 0; i < 2000; i++) (i % 2 ? process.stdout : process.stderr).write('line ' + i + '\\n');
      process.stdout.write('without end'); };`;
    const functions = await bed.start({ chatty: { code } });
    const reports: InvocationReport[] = [];
    functions.onInvocation((report) => reports.push(report));
    await invoke(functions, 'chatty');
    const lines = texts(functions, 'chatty');
    expect(lines[0]).toMatch(/\tINFO\tat import$/);
    expect(lines[1]).toMatch(/^START RequestId: .* Version: \$LATEST$/);
    expect(lines.slice(2, -3)).toEqual(Array.from({ length: 2000 }, (_, i) => `line ${i}`));
    expect(lines.slice(-3)).toEqual([
      'without end',
      expect.stringMatching(/^END RequestId/),
      expect.stringMatching(
        /^REPORT RequestId: .*Duration: .*Billed Duration: .*Memory Size: 128 MB.*Max Memory Used: \d+ MB.*Init Duration/,
      ),
    ]);
    expect(reports).toEqual([expect.objectContaining({ functionName: 'chatty', outcome: 'succeeded', memoryMb: 128 })]);
    expect(reports[0]?.initMs).toBeGreaterThan(0);
  });

  test('has the format that the template asks for', async () => {
    const functions = await bed.start({
      plain: { code: `export const handler = async () => console.warn('a\\nb');` },
      json: {
        code: `export const handler = async () => console.warn({ a: 1 });`,
        properties: { LoggingConfig: { LogFormat: 'JSON' } },
      },
    });
    await Promise.all([invoke(functions, 'plain'), invoke(functions, 'json')]);
    expect(texts(functions, 'plain').find((text) => text.includes('WARN'))).toMatch(/^\S+Z\t[0-9a-f-]+\tWARN\ta\rb$/);
    const line = texts(functions, 'json').find((text) => text.includes('WARN')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ level: 'WARN', message: { a: 1 }, requestId: expect.any(String) });
  });

  test('is lost when the role may not write it', async () => {
    const asked: string[] = [];
    const functions = await bed.start(
      { silent: { code: `export const handler = async () => console.log('something');` } },
      {},
      [],
      ({ action, resource: log, functionName }) => {
        asked.push(`${functionName} ${action} ${log}`);
        return action !== 'logs:PutLogEvents';
      },
    );
    expect((await invoke(functions, 'silent')).statusCode).toBe(200);
    expect(texts(functions, 'silent')).toEqual([]);
    const log = 'arn:aws:logs:us-east-1:123456789012:log-group:/aws/lambda/silent:log-stream:local';
    expect(asked).toEqual([`silent logs:CreateLogStream ${log}`, `silent logs:PutLogEvents ${log}`]);
  });

  test('comes back with the answer when asked for', async () => {
    const functions = await bed.start({
      tail: { code: `export const handler = async () => console.log('x'.repeat(5000));` },
    });
    const result = await functions.invoke({
      functionName: 'tail',
      payload: '{}',
      invocationType: 'RequestResponse',
      principal: 'root',
      logType: 'Tail',
    });
    const tail = Buffer.from(result.logResult ?? '', 'base64').toString();
    expect(tail).toHaveLength(4096);
    expect(tail).toMatch(/Max Memory Used: \d+ MB.*\n$/);
  });
});

describe('an asynchronous invocation', () => {
  const event = (functions: LocalFunctions, functionName: string): Promise<InvokeResult> =>
    functions.invoke({ functionName, payload: '{}', invocationType: 'Event', principal: 'root', logType: 'None' });

  const outcomes = (functions: LocalFunctions, until: (seen: string[]) => boolean): Promise<string[]> =>
    new Promise((done) => {
      const seen: string[] = [];
      functions.onInvocation(({ outcome }) => {
        seen.push(outcome);
        if (until(seen)) done(seen);
      });
    });

  test('is acknowledged at once and tried three times', async () => {
    const functions = await bed.start(
      { failing: { code: `export const handler = async () => { throw new Error('always'); };` } },
      { asyncSpeed: 10_000 },
    );
    const dropped = new Promise<string>((done) =>
      functions.logs.observe(({ text }) => text.includes('dropped') && done(text)),
    );
    const seen = outcomes(functions, ({ length }) => length === 3);
    expect(await event(functions, 'failing')).toEqual({ statusCode: 202, payload: '' });
    expect(await seen).toEqual(['failed', 'failed', 'failed']);
    expect(await dropped).toContain('retries_exhausted');
    expect(functions.pendingEvents).toBe(0);
  });

  test('is tried as often as the template says', async () => {
    const config = resource('AWS::Lambda::EventInvokeConfig', 'Config', {
      properties: { FunctionName: 'once', Qualifier: '$LATEST', MaximumRetryAttempts: 0 },
    });
    const code = `export const handler = async () => { throw new Error('always'); };`;
    const functions = await bed.start({ once: { code } }, { asyncSpeed: 10_000 }, [config]);
    const seen = outcomes(functions, ({ length }) => length === 1);
    const dropped = new Promise<void>((done) =>
      functions.logs.observe(({ text }) => text.includes('dropped') && done()),
    );
    await event(functions, 'once');
    await dropped;
    expect(await seen).toEqual(['failed']);
  });
});

test('a function that cannot run here is refused with its name and the property', async () => {
  const properties = { Runtime: 'python3.13' };
  await expect(bed.start({ snake: { code: '', properties } })).rejects.toThrow(/Test\/snake .*Runtime: only Node.js/);
});
