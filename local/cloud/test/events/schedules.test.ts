import { describe, expect, test } from '@jest/globals';
import type { AuthorizationRequest, DeployedResource, InvokeRequest } from '../../contract.ts';
import { Schedules } from '../../events/schedules.ts';
import { functionArn, resource } from '../support/functions.ts';

const target = resource('AWS::Lambda::Function', 'cleaner', { arn: functionArn('cleaner') });
const rule = (properties: DeployedResource['properties']): DeployedResource =>
  resource('AWS::Events::Rule', 'EveryMinute', { arn: 'arn:rule', properties });

function schedules(of: DeployedResource, allowed = true) {
  const invocations: InvokeRequest[] = [];
  const questions: AuthorizationRequest[] = [];
  const started = new Schedules({
    mode: 'manual',
    cloud: {
      region: 'us-east-1',
      accountId: '123456789012',
      byType: () => [of],
      find: (id) => (id === target.arn ? target : undefined),
      authorize: async (question) => {
        questions.push(question);
        return { allowed, message: '' };
      },
    },
    invoker: {
      invoke: async (request) => {
        invocations.push(request);
        return { statusCode: 200, payload: 'null' };
      },
    },
  });
  return { started, invocations, questions };
}

const EVERY_MINUTE = { ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: target.arn, Id: 'Target0' }] };

describe('a schedule', () => {
  test('fires by hand with the event that EventBridge sends, when the function lets it', async () => {
    const { started, invocations, questions } = schedules(rule(EVERY_MINUTE));
    await started.fire('cleaner');
    expect(questions).toEqual([
      {
        principal: 'events.amazonaws.com',
        action: 'lambda:InvokeFunction',
        resource: target.arn,
        context: { 'aws:SourceArn': 'arn:rule' },
      },
    ]);
    expect(invocations).toEqual([expect.objectContaining({ functionName: 'cleaner' })]);
    expect(JSON.parse(invocations[0]?.payload ?? '')).toMatchObject({
      'detail-type': 'Scheduled Event',
      resources: ['arn:rule'],
    });
  });

  test('does not reach a function that does not let it', async () => {
    const { started, invocations } = schedules(rule(EVERY_MINUTE), false);
    await expect(started.fire('cleaner')).rejects.toThrow('No schedule');
    expect(invocations).toEqual([]);
  });

  test.each([
    [{ ScheduleExpression: 'cron(0 12 * * ? *)' }, /Test\/EveryMinute .*cron.* is not a rate/],
    [{ EventPattern: {} }, /event pattern; only schedules/],
    [{ ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: 'arn:queue', Id: 'x' }] }, /arn:queue is not a function/],
  ])('%j is refused by name', (properties, message) => {
    expect(() => schedules(rule(properties))).toThrow(message);
  });
});
