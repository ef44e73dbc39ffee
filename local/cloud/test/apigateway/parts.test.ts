import { describe, expect, test } from '@jest/globals';
import { commonLogTime, render, type GatewayContext } from '../../apigateway/context.ts';
import type { Route } from '../../apigateway/definition.ts';
import { isBinary } from '../../apigateway/event.ts';
import { evaluate } from '../../apigateway/policy.ts';
import { httpAnswerOf } from '../../apigateway/proxy-response.ts';
import { Router } from '../../apigateway/router.ts';

const route = (method: string, resourcePath: string): Route => ({
  method,
  resourcePath,
  resourceId: resourcePath,
  authorizer: undefined,
  functionArn: 'arn',
  timeoutMs: 1000,
});

describe('routing', () => {
  const router = new Router(
    [
      ['GET', '/shop/{rest+}'],
      ['GET', '/shop/things/{id}'],
      ['GET', '/shop/things/special'],
      ['ANY', '/shop/any'],
      ['GET', '/shop/any'],
      ['GET', '/'],
    ].map(([method = '', path = '']) => route(method, path)),
  );

  test.each([
    ['GET', '/shop/things/special', '/shop/things/special', null],
    ['GET', '/shop/things/7/', '/shop/things/{id}', { id: '7' }],
    ['GET', '/shop/things/a%2Fb%20c', '/shop/things/{id}', { id: 'a/b c' }],
    ['GET', '/shop/things/7/parts', '/shop/{rest+}', { rest: 'things/7/parts' }],
    ['DELETE', '/shop/any', '/shop/any', null],
    ['GET', '/', '/', null],
  ])('%s %s goes to %s', (method, path, resourcePath, pathParameters) => {
    expect(router.match(method, path)).toMatchObject({ route: { resourcePath }, pathParameters });
  });

  test('a method of a path wins over ANY, in whatever order they are declared', () => {
    expect(router.match('GET', '/shop/any')?.route.method).toBe('GET');
    expect(router.match('HEAD', '/shop/any')?.route.method).toBe('ANY');
  });

  test.each([
    ['POST', '/shop/things/7'],
    ['GET', '/v2'],
    ['GET', '//shop/things/7'],
  ])('%s %s goes nowhere', (method, path) => {
    expect(router.match(method, path)).toBeUndefined();
  });

  test('a path that is not percent-encoded properly is an error', () => {
    expect(() => router.match('GET', '/shop/things/%E0%A4%A')).toThrow(URIError);
  });
});

describe("an authorizer's policy", () => {
  const arn = 'arn:aws:execute-api:us-east-1:1:api/dev/GET/shop/things/7';
  const statement = (Effect: 'Allow' | 'Deny', ...Resource: string[]) => ({
    Effect,
    Action: ['execute-api:Invoke'],
    Resource,
    Condition: undefined,
  });

  test.each([
    ['of this very method', [statement('Allow', arn)], 'allowed'],
    ['of the whole stage', [statement('Allow', 'arn:aws:execute-api:us-east-1:1:api/dev/*')], 'allowed'],
    ['of another method', [statement('Allow', 'arn:aws:execute-api:us-east-1:1:api/dev/POST/*')], 'not_allowed'],
    ['with a dot as a dot', [statement('Allow', arn.replace('7', '.'))], 'not_allowed'],
    ['that also denies', [statement('Allow', '*'), statement('Deny', '*/shop/things/?')], 'denied'],
  ])('%s decides', (_, Statement, decision) => {
    expect(evaluate({ Statement }, arn)).toBe(decision);
  });
});

describe("a function's answer", () => {
  const answer = (payload: unknown, accept?: string, types: string[] = []) =>
    httpAnswerOf({ statusCode: 200, payload: JSON.stringify(payload) }, types, accept);

  test('keeps all values of a header, the list before the single one', () => {
    const { headers } = answer({
      statusCode: 200,
      headers: { 'X-A': 'single', Location: '/x', 'WWW-Authenticate': 'Bearer' },
      multiValueHeaders: { 'x-a': ['1', '2'] },
    });
    expect(headers).toEqual({
      'x-a': ['1', '2'],
      location: ['/x'],
      'x-amzn-remapped-www-authenticate': ['Bearer'],
      'content-type': ['application/json'],
    });
  });

  test('is decoded only where the client accepts binary', () => {
    const payload = { statusCode: 200, body: 'AP8=', isBase64Encoded: true };
    expect(answer(payload, 'image/png', ['image/*']).body).toEqual(Buffer.from([0, 255]));
    expect(answer(payload, 'text/plain', ['image/*']).body.toString()).toBe('AP8=');
    expect(answer(payload, undefined, ['*/*']).body).toEqual(Buffer.from([0, 255]));
  });

  test.each([
    ['no status', { body: 'x' }],
    ['an impossible status', { statusCode: 42 }],
    ['an object as body', { statusCode: 200, body: { a: 1 } }],
    ['a header that HTTP does not know', { statusCode: 200, headers: { 'x-a': 'a\r\nx-b: c' } }],
    ['text', 'hello'],
    ['nothing', null],
  ])('with %s is one that the gateway cannot use', (_, payload) => {
    expect(() => answer(payload)).toThrow('Internal server error');
  });
});

test('media types match with wildcards and without their parameters', () => {
  expect(isBinary(['image/*'], 'image/png; q=1')).toBe(true);
  expect(isBinary(['image/*'], 'text/csv')).toBe(false);
  expect(isBinary(['application/json'], undefined)).toBe(true);
  expect(isBinary([], 'text/csv')).toBe(false);
});

test('templates see the context, and only what is in it', () => {
  const context = {
    requestId: 'r',
    error: { message: 'a "b"', messageString: '"a \\"b\\""', responseType: 'X' },
    identity: { sourceIp: '1.2.3.4', userAgent: null },
  } as unknown as GatewayContext;
  const text = '$context.requestId $context.error.messageString $context.identity.userAgent $context.constructor.name';
  expect(render(text, context, '-')).toBe('r "a \\"b\\"" - -');
});

test('the time of a request is in the common log format', () => {
  expect(commonLogTime(new Date('2025-04-09T02:03:04Z'))).toBe('09/Apr/2025:02:03:04 +0000');
});
