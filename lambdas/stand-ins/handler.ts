import type { APIGatewayProxyStructuredResultV2, LambdaFunctionURLEvent } from 'aws-lambda';
import { readStandInsEnvironment } from './env.ts';
import { answerCall } from './stand-ins.ts';

const env = readStandInsEnvironment();

/** Answers calls of the function's URL in the place of the providers. */
export async function handler(event: LambdaFunctionURLEvent): Promise<APIGatewayProxyStructuredResultV2> {
  const { rawPath: path, rawQueryString: query, headers } = event;
  const { status, body } = answerCall({ path, query, headers }, env.STAND_IN_CREDENTIAL);
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
