import { httpHandler } from '../../lambdas/runtime/http.ts';
import { ProblemError } from '../../lambdas/domain/api/problems.ts';
import type { Answer, ApiRequest } from '../../lambdas/domain/api/request.ts';
import { DependencyUnavailableError, InvalidDataError } from '../../lambdas/domain/errors.ts';
import { API_HOST, BASE_URL, createTestApi, ORIGIN, proxyEvent, REQUEST_ID } from '../support/api/api.ts';
import { createMemoryWorld, createTestClock } from '../support/memory/index.ts';

const context = { awsRequestId: 'invocation-1', getRemainingTimeInMillis: () => 1_000 };

/** A handler of one operation that answers with what `answer` says, and the calls of its telemetry. */
function handlerOf(answer: Answer, corsOrigins: string[] = [], clock = createTestClock()) {
  const { telemetry } = createMemoryWorld({ clock });
  const calls: string[] = [];
  const handler = httpHandler({
    answers: { createUpload: answer },
    corsOrigins,
    clock,
    telemetry: {
      emit: (event) => telemetry.emit(event),
      begin: ({ awsRequestId }) => void calls.push(`begin ${awsRequestId}`),
      flush: () => void calls.push('flush'),
    },
  });
  return { handler, telemetry, calls };
}

const event = (overrides: object = {}) => ({
  ...proxyEvent('POST', '/v1/uploads', '/v1/uploads', null, {}),
  ...overrides,
});

/** What the operation gets of an event. */
async function received(overrides: object): Promise<ApiRequest> {
  const seen: ApiRequest[] = [];
  const { handler } = handlerOf(async (request) => {
    seen.push(request);
    return { status: 200, body: {} };
  });
  const { statusCode, body } = await handler(event(overrides), context);
  const [request] = seen;
  if (request === undefined) throw new Error(`${statusCode} ${body}`);
  return request;
}

/** Status and problem of an event that no operation should get. */
async function refused(overrides: object) {
  const { handler } = handlerOf(async () => ({ status: 200, body: { reached: true } }));
  const { statusCode, body } = await handler(event(overrides), context);
  return { status: statusCode, ...JSON.parse(body) };
}

describe('a request reaches its operation', () => {
  test('with header names in lower case, from lists or single values', async () => {
    const lists = await received({ headers: {}, multiValueHeaders: { 'X-One': ['1 '], Accept: ['a', 'b'] } });
    expect(lists.headers).toEqual({ 'x-one': '1', accept: 'a, b' });
    const single = await received({ headers: { 'X-One': '1' }, multiValueHeaders: null });
    expect(single.headers).toEqual({ 'x-one': '1' });
    expect((await received({ headers: null, multiValueHeaders: null })).headers).toEqual({});
  });

  test('with the bytes of its body, encoded or not', async () => {
    const bytes = Buffer.from([0, 255, 10, 13]);
    const encoded = await received({ body: bytes.toString('base64'), isBase64Encoded: true });
    expect(Buffer.from(encoded.body)).toEqual(bytes);
    expect(Buffer.from((await received({ body: 'ä', isBase64Encoded: false })).body).toString()).toBe('ä');
    expect((await received({ body: null })).body).toHaveLength(0);
    expect((await received({ body: '', isBase64Encoded: true })).body).toHaveLength(0);
  });

  test('with the base that its caller uses', async () => {
    const { requestContext } = event();
    const base = async (change: object, headers: object = {}) =>
      (await received({ requestContext: { ...requestContext, ...change }, headers, multiValueHeaders: {} })).baseUrl;
    expect(await base({})).toBe(BASE_URL);
    expect(await base({ path: '/v1/uploads' })).toBe(`https://${API_HOST}`);
    expect(await base({ path: '/base/v1/uploads', domainName: 'x.example' })).toBe('https://x.example/base');
    expect(await base({}, { 'X-Forwarded-Proto': 'http' })).toBe(BASE_URL.replace('https', 'http'));
    expect(await base({}, { 'X-Forwarded-Proto': 'javascript' })).toBe(BASE_URL);
    expect(await base({ domainName: undefined })).toBe('/test');
    // The Host header is the caller's: no link is made from it.
    expect(await base({}, { Host: 'evil.example' })).toBe(BASE_URL);
  });

  test('with the time that is left', async () => {
    expect((await received({})).budget.remainingMs()).toBe(1_000);
  });
});

describe('a request is refused before its operation', () => {
  test.each(['Authorization', 'Content-Type', 'Idempotency-Key', 'Content-Encoding', 'Origin'])(
    'when %s comes twice',
    async (name) => {
      const twice = { headers: {}, multiValueHeaders: { [name]: ['a', 'b'] } };
      expect(await refused(twice)).toMatchObject({
        status: 400,
        code: 'invalid_request',
        errors: [{ header: name.toLowerCase() }],
      });
      const inTwoCases = { headers: {}, multiValueHeaders: { [name]: ['a'], [name.toUpperCase()]: ['b'] } };
      expect((await refused(inTwoCases)).status).toBe(400);
    },
  );

  test('when a parameter comes twice', async () => {
    const query = { queryStringParameters: { limit: '2' }, multiValueQueryStringParameters: { limit: ['1', '2'] } };
    expect(await refused(query)).toMatchObject({ status: 400, errors: [{ parameter: 'limit' }] });
  });

  test.each(['a', '!!!!', 'YQ=', 'YQ==YQ==', 'YW\n=', 'Y==='])('when %j should be base64', async (body) => {
    expect(await refused({ body, isBase64Encoded: true })).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('when no authorizer has said who calls', async () => {
    const { requestContext } = event();
    for (const authorizer of [undefined, null, {}, { tenantId: 'acme' }, { keyId: 'k', scopes: 'submit' }]) {
      expect((await refused({ requestContext: { ...requestContext, authorizer } })).code).toBe('unauthorized');
    }
  });

  test('when nothing is at its path', async () => {
    for (const resource of ['/v2/uploads', '/', '/__proto__', '/v1/uploads/{id}']) {
      expect(await refused({ resource })).toMatchObject({ status: 404, code: 'not_found' });
    }
  });

  test('when its path has no such method, and says which it has', async () => {
    const { handler } = handlerOf(async () => ({ status: 200, body: {} }));
    for (const httpMethod of ['DELETE', 'PUT', 'post', 'constructor']) {
      const { statusCode, headers, body } = await handler(event({ httpMethod }), context);
      expect([statusCode, headers['Allow'], JSON.parse(body).code]).toEqual([405, 'POST', 'method_not_allowed']);
    }
    const both = await handler(event({ httpMethod: 'DELETE', resource: '/v1/submissions' }), context);
    expect(both.headers['Allow']?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });

  test('by HEAD without a body, where there is no GET', async () => {
    const { handler } = handlerOf(async () => ({ status: 200, body: {} }));
    const { statusCode, headers, body } = await handler(event({ httpMethod: 'HEAD' }), context);
    expect([statusCode, headers['Allow'], body]).toEqual([405, 'POST', '']);
  });

  test('when another function answers it', async () => {
    expect((await refused({ resource: '/v1/submissions', httpMethod: 'GET' })).status).toBe(405);
  });
});

describe('an answer', () => {
  test('is JSON that nobody keeps', async () => {
    const { handler } = handlerOf(async () => ({ status: 201, headers: { Location: 'x' }, body: { a: 'ä' } }));
    expect(await handler(event(), context)).toEqual({
      statusCode: 201,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        'X-Request-Id': REQUEST_ID,
        Location: 'x',
      },
      body: '{"a":"ä"}',
      isBase64Encoded: false,
    });
  });

  test('to HEAD is that to GET without its body', async () => {
    const api = createTestApi();
    const get = await api.call('GET', '/v1/submissions');
    const head = await api.call('HEAD', '/v1/submissions');
    expect([head.status, head.headers, head.text]).toEqual([get.status, get.headers, '']);
  });

  test('that the caller has already is not sent again', async () => {
    const { handler } = handlerOf(async () => ({ status: 200, headers: { ETag: 'W/"a"' }, body: { big: true } }));
    const ask = async (tag: string) => {
      const headers = { 'If-None-Match': tag };
      const { statusCode, body, headers: answered } = await handler(event({ headers, multiValueHeaders: {} }), context);
      return [statusCode, body, answered['ETag'], 'Content-Type' in answered];
    };
    for (const same of ['W/"a"', '"a"', '"b", W/"a"', '*']) expect(await ask(same)).toEqual([304, '', 'W/"a"', false]);
    for (const other of ['W/"b"', '', 'a', '"a'])
      expect(await ask(other)).toEqual([200, '{"big":true}', 'W/"a"', true]);
  });

  test('that asks for a key says by which scheme', async () => {
    const { status, headers } = await createTestApi().call('GET', '/v1/submissions', { tenant: null });
    expect([status, headers['WWW-Authenticate']]).toEqual([401, 'Bearer realm="sluice"']);
  });

  test('that is a problem has its own type, headers and no request id of ours', async () => {
    const { handler, telemetry } = handlerOf(async () => {
      throw new ProblemError('system_busy', 'Later.', { retryAfterSeconds: 7 });
    });
    const { statusCode, headers, body } = await handler(event(), context);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'Retry-After': '7',
      'X-Request-Id': REQUEST_ID,
    });
    expect(JSON.parse(body)).toEqual({
      type: 'urn:sluice:problem:system_busy',
      title: expect.any(String),
      status: 503,
      code: 'system_busy',
      detail: 'Later.',
      retryAfterSeconds: 7,
    });
    expect(telemetry.events).toEqual([]);
  });

  test('after an unexpected error says nothing of it but where to ask, and the error is logged', async () => {
    const cause = new InvalidDataError('row MARKER is broken');
    const { handler, telemetry, calls } = handlerOf(async () => {
      throw cause;
    });
    const { statusCode, body } = await handler(event(), context);
    expect(statusCode).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ code: 'internal_error', requestId: REQUEST_ID });
    expect(body).not.toContain('MARKER');
    expect(telemetry.events).toEqual([
      {
        name: 'unexpected_error',
        level: 'error',
        outcome: 'internal_error',
        detail: 'POST /v1/uploads',
        tenantId: 'acme',
        error: cause,
      },
    ]);
    expect(calls).toEqual(['begin invocation-1', 'flush']);
  });

  test('when a dependency is down says when to come back', async () => {
    const { handler, telemetry } = handlerOf(async () => {
      throw new DependencyUnavailableError('table MARKER throttled');
    });
    const { statusCode, headers, body } = await handler(event(), context);
    expect([statusCode, headers['Retry-After'], JSON.parse(body).code]).toEqual([503, '5', 'unavailable']);
    expect(body).not.toContain('MARKER');
    expect(telemetry.events).toMatchObject([{ level: 'warn', outcome: 'unavailable' }]);
  });

  test('that takes long is logged, without the time that its caller asked to wait', async () => {
    const clock = createTestClock();
    const answerAfter = (ms: number, waitedMs: number) =>
      handlerOf(
        async () => {
          await clock.advance(ms);
          return { status: 200, body: {}, waitedMs };
        },
        [],
        clock,
      );
    for (const [ms, waitedMs] of [
      [4_999, 0],
      [24_999, 20_000],
    ] as const) {
      const { handler, telemetry } = answerAfter(ms, waitedMs);
      await handler(event(), context);
      expect(telemetry.events).toEqual([]);
    }
    const { handler, telemetry } = answerAfter(25_000, 20_000);
    await handler(event(), context);
    expect(telemetry.events).toEqual([
      { name: 'slow_answer', level: 'warn', durationMs: 5_000, detail: 'POST /v1/uploads', tenantId: 'acme' },
    ]);
  });

  test.each([[undefined], ['text'], [{}], [{ ...event(), requestContext: {} }], [{ ...event(), body: 7 }]])(
    'is none for what is no request of an API: %#',
    async (other) => {
      const { handler, calls } = handlerOf(async () => ({ status: 200, body: {} }));
      await expect(handler(other, context)).rejects.toThrow(InvalidDataError);
      expect(calls.at(-1)).toBe('flush');
    },
  );
});

describe('pages of other origins', () => {
  const call = async (origins: string[], origin: string | undefined, method = 'POST') => {
    const { handler } = handlerOf(async () => ({ status: 200, body: {} }), origins);
    const headers = origin === undefined ? {} : { oRigin: origin };
    return handler(event({ httpMethod: method, headers, multiValueHeaders: {} }), context);
  };

  test('may read answers and problems when they are configured', async () => {
    for (const method of ['POST', 'DELETE']) {
      const { headers } = await call(['https://other.example', ORIGIN], ORIGIN, method);
      expect(headers).toMatchObject({
        'Access-Control-Allow-Origin': ORIGIN,
        'Access-Control-Expose-Headers': expect.stringMatching(/^x-request-id, location, etag, .*retry-after/),
        Vary: 'Origin',
      });
    }
  });

  test.each(['https://evil.example', `${ORIGIN}.evil.example`, 'null', '', ORIGIN.toUpperCase()])(
    'may not from %j',
    async (origin) => {
      const { headers } = await call([ORIGIN], origin);
      expect(headers).not.toHaveProperty('Access-Control-Allow-Origin');
      expect(headers['Vary']).toBe('Origin');
    },
  );

  test('may from anywhere when everything is allowed', async () => {
    expect((await call(['*'], 'https://a.example')).headers['Access-Control-Allow-Origin']).toBe('https://a.example');
  });

  test('are not mentioned when none is configured', async () => {
    expect((await call([], ORIGIN)).headers).not.toHaveProperty('Vary');
  });

  test('ask first, without a key, and are told what they may send', async () => {
    const { handler } = handlerOf(async () => ({ status: 200, body: {} }), [ORIGIN]);
    const { requestContext } = event();
    const preflight = event({
      httpMethod: 'OPTIONS',
      headers: { origin: ORIGIN },
      multiValueHeaders: {},
      requestContext: { ...requestContext, authorizer: undefined },
    });
    const { statusCode, headers, body } = await handler(preflight, context);
    expect([statusCode, body]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'Access-Control-Allow-Origin': ORIGIN,
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'authorization, content-type, idempotency-key, if-none-match',
      'Access-Control-Max-Age': '3600',
    });
    expect(headers).not.toHaveProperty('Content-Type');
  });
});

describe('what hostile clients send to any operation', () => {
  const BODIES: [string, string | Uint8Array][] = [
    ['nothing that is JSON', '{"a":'],
    ['another JSON value', '"text"'],
    ['null', 'null'],
    ['an array', '[1]'],
    ['a number', '1e400'],
    ['bytes that are no UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"uploadId":"x"}', 'utf16le')],
    ['deep nesting', `{"uploadId":${'['.repeat(7_000)}${']'.repeat(7_000)}}`],
    ['deep nesting that never ends', '{"a":'.repeat(2_000)],
    ['a large request', JSON.stringify({ uploadId: 'x'.repeat(20_000) })],
    ['many unknown members', JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`m${i}`, i])))],
    ['a long unknown name', JSON.stringify({ ['n'.repeat(10_000)]: 1 })],
    ['half a character as a name', '{"\\ud800":1}'],
    ['the prototype', '{"__proto__":{"uploadId":"x"},"uploadId":{}}'],
    ['what every object has', '{"constructor":1,"toString":2,"uploadId":3}'],
    ['nothing but nulls', '{"uploadId":null,"format":null,"fileName":null}'],
    ['a byte order mark and no more', '\uFEFF'],
    ['a NUL', '\u0000'],
  ];
  const api = createTestApi();

  test.each(BODIES)('%s is refused in a few words', async (_what, body) => {
    const headers = { 'content-type': 'application/json' };
    for (const path of ['/v1/uploads', '/v1/submissions', '/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/cancel']) {
      // An array is a file where one may be sent.
      if (path === '/v1/submissions' && body === '[1]') continue;
      const { status, text } = await api.call('POST', path, { body, headers });
      expect([path, status < 500 && status >= 400]).toEqual([path, true]);
      expect(text.length).toBeLessThan(8_000);
    }
  });

  test.each([
    ['deep nesting', `{"reference":${'['.repeat(8)}${']'.repeat(8)}}`, /nested/],
    ['brackets in a text, which are none', `{"reference":"${'['.repeat(9)}\\"["}`, /uploadId/],
    ['a text that is no UTF-8', Buffer.from('{"uploadId":"x","reference":"\xff"}', 'latin1'), /UTF-8/],
  ])('%s is told in words', async (_what, body, words) => {
    const headers = { 'content-type': 'application/json' };
    expect((await api.call('POST', '/v1/submissions', { body, headers })).body.detail).toMatch(words);
  });

  test('unknown members are named, and the ones that are known', async () => {
    const { body } = await api.call('POST', '/v1/uploads', { body: { filename: 'x', 'a/b~c': 1, constructor: 1 } });
    expect(body.errors).toEqual([
      { pointer: '/filename', detail: 'filename is not known here: fileName, sizeBytes are allowed.' },
      { pointer: '/a~1b~0c', detail: expect.any(String) },
      { pointer: '/constructor', detail: expect.any(String) },
    ]);
  });

  test('unknown parameters are refused by every operation', async () => {
    for (const [method, path] of [
      ['GET', '/v1/submissions'],
      ['GET', '/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD'],
      ['GET', '/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/records'],
      ['GET', '/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/records/1'],
      ['GET', '/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/results'],
      ['POST', '/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/cancel'],
      ['POST', '/v1/uploads'],
      ['GET', '/v1/openapi.json'],
    ] as const) {
      for (const name of ['tenantId', 'toString', 'constructor', 'prototype', '__proto__']) {
        const { status, body } = await api.call(method, path, { query: { [name]: 'x' } });
        expect([method, path, status, body.errors]).toEqual([
          method,
          path,
          400,
          [{ parameter: name, detail: expect.any(String) }],
        ]);
      }
    }
  });
});
