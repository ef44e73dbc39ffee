import type { Cloud } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';

const ACTIONS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/**
 * Whether API Gateway may write an access log: it does so under a role of the account's own settings. A denial is noted by
 * the authorizer; in the account the log stays empty.
 *
 * @throws LocalCloudError when the templates set no such role: the account would refuse the stage
 */
export async function mayWriteAccessLog(
  cloud: Pick<Cloud, 'accountId' | 'authorize' | 'byType' | 'region'>,
  logGroup: string,
): Promise<boolean> {
  const [account] = cloud.byType('AWS::ApiGateway::Account');
  const role = account?.properties['CloudWatchRoleArn'];
  if (typeof role !== 'string') {
    throw new LocalCloudError(
      'The stage has an access log, but no AWS::ApiGateway::Account sets the role that API Gateway writes logs under.',
    );
  }
  const resource = `arn:aws:logs:${cloud.region}:${cloud.accountId}:log-group:${logGroup}:log-stream:local`;
  let may = true;
  for (const action of ACTIONS) may &&= (await cloud.authorize({ principal: role, action, resource })).allowed;
  return may;
}
