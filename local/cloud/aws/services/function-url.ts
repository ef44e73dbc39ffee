import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { InvokeResult } from '../../contract.ts';
import type { Call } from '../front/call.ts';
import type { Reply } from '../front/errors.ts';

/** The event of a function URL, https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-request-payload */
export function urlEvent(call: Call, prefix: string): object {
  const { request, method } = call;
  const [path = '/', query = ''] = (request.url ?? '/').slice(prefix.length).split(/\?(.*)/s);
  const headers = Object.fromEntries(
    Object.entries(call.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  );
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      requestId: randomUUID(),
      timeEpoch: call.startedAtMs,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: call.header('user-agent') ?? '' },
    },
    ...(call.body.length === 0 ? {} : { body: call.body.toString('base64') }),
    isBase64Encoded: call.body.length > 0,
  };
}

const answerSchema = v.object({
  statusCode: v.number(),
  headers: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])), {}),
  body: v.optional(v.string(), ''),
  isBase64Encoded: v.optional(v.boolean(), false),
});

/** A failed function, and one that answers nothing usable, is 502 to the caller. */
export function urlAnswerOf({ functionError, payload }: InvokeResult): Reply {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), answerSchema), payload);
  if (functionError !== undefined || !parsed.success) {
    return {
      status: 502,
      headers: { 'content-type': 'application/json' },
      body: '{"Message":"Internal Server Error"}',
    };
  }
  const { statusCode, headers, body, isBase64Encoded } = parsed.output;
  return {
    status: statusCode,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])),
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
}
