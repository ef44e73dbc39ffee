import type { APIGatewayProxyStructuredResultV2, LambdaFunctionURLEvent } from 'aws-lambda';
import { PROVIDERS } from '../../config/providers.ts';
import { readStandInsEnvironment } from './env.ts';
import { answerCall } from './stand-ins.ts';

const env = readStandInsEnvironment();

/** Answers calls of the function's URL in the place of the providers. */
export async function handler(event: LambdaFunctionURLEvent): Promise<APIGatewayProxyStructuredResultV2> {
  const { rawPath: path, rawQueryString: query, headers, body: sent = '', isBase64Encoded } = event;
  const body = isBase64Encoded ? Buffer.from(sent, 'base64').toString('utf8') : sent;
  const answer = answerCall(PROVIDERS, { path, query, headers, body }, env.STAND_IN_CREDENTIAL);
  return {
    statusCode: answer.status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(answer.body),
  };
}
