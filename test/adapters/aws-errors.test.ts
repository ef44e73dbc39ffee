import { describe, expect, test } from '@jest/globals';
import { dependencyError } from '../../lambdas/adapters/aws-errors.ts';
import { DependencyUnavailableError, InvalidDataError } from '../../lambdas/domain/errors.ts';
import { connectionError, serviceError } from './service-errors.ts';

const named = (name: string): Error => Object.assign(new Error(name), { name });

describe('errors of services', () => {
  test.each([
    ['a throttle', serviceError('ProvisionedThroughputExceededException', 400)],
    ['a fault of the service', serviceError('InternalServerError', 500)],
    ['a missing permission', serviceError('AccessDeniedException', 400)],
    ['a missing table', serviceError('ResourceNotFoundException', 400)],
    ['a broken connection', connectionError('ECONNRESET')],
    ['an unknown host', connectionError('ENOTFOUND')],
    ['no answer in time', named('TimeoutError')],
    ['no credentials', named('CredentialsProviderError')],
    ['an answer that cannot be read', Object.assign(new SyntaxError('Unexpected token <'), { $response: {} })],
  ])('%s is a dependency that does not work, and says where', (_what, error) => {
    const mapped = dependencyError(error, 'reading sub_1/meta');

    expect(mapped).toBeInstanceOf(DependencyUnavailableError);
    expect(mapped).toMatchObject({ retryable: true, cause: error });
    expect(String(mapped)).toMatch(/while reading sub_1\/meta\.$/);
  });

  test.each([
    ['an invalid request', serviceError('ValidationException', 400)],
    ['a mistake of ours', new TypeError('undefined is not a function')],
    ['an argument that Node refuses', Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_TYPE' })],
    ['an error that has its meaning already', new InvalidDataError('The stored row is not valid.')],
    ['something that is no error', 'text'],
  ])('%s stays what it is', (_what, error) => {
    expect(dependencyError(error, 'reading')).toBe(error);
  });
});
