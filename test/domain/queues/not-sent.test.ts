import { expect, it } from '@jest/globals';
import { notSent } from '../../../lambdas/domain/queues/not-sent.ts';

it('a message that was not sent may be sent later', () => {
  expect(notSent('It was', { index: 0, senderFault: false, code: 'ServiceUnavailable' })).toMatchObject({
    name: 'DependencyUnavailableError',
    message: 'It was not sent: ServiceUnavailable.',
  });
});

it('a message that the queue refuses needs a person, who is told what was refused', () => {
  const refused = { action: 'sqs:SendMessage', resource: 'https://sqs/queue' };
  expect(notSent('It was', { index: 0, senderFault: false, code: 'AccessDenied', refused })).toMatchObject({
    name: 'DependencyMisconfiguredError',
    ...refused,
  });
});
