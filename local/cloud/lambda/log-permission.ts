import type { Cloud } from '../contract.ts';
import type { FunctionSpec } from './spec.ts';

/** What Lambda does with a function's role so that its output becomes a log. */
const ACTIONS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** Whether the function's role may write its own log. A denial is noted by the authorizer; in the account the log stays empty. */
export async function mayWriteLog(
  cloud: Pick<Cloud, 'accountId' | 'authorize' | 'region'>,
  spec: FunctionSpec,
): Promise<boolean> {
  const resource = `arn:aws:logs:${cloud.region}:${cloud.accountId}:log-group:${spec.logGroup}:log-stream:local`;
  let may = true;
  for (const action of ACTIONS) {
    const decision = await cloud.authorize({ principal: spec.roleArn, functionName: spec.name, action, resource });
    may &&= decision.allowed;
  }
  return may;
}
