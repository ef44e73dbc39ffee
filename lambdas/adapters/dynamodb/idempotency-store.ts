import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { InProgressError, KeyReusedError, type IdempotencyStore } from '../../domain/api/ports.ts';
import { DependencyUnavailableError } from '../../domain/errors.ts';
import { dependencyError } from '../aws-errors.ts';

/** Names of errors by which Powertools says that its table did not work, or changed under it. */
const UNSTABLE: readonly string[] = [
  'IdempotencyPersistenceLayerError',
  'IdempotencyInconsistentStateError',
  'IdempotencyItemNotFoundError',
];

/**
 * Powertools' idempotency on a table of its own. It hashes keys and requests; the request's hash is compared before anything
 * else of a remembered answer is looked at.
 *
 * @param expiresAfterSeconds - as long as what was accepted is kept
 */
export function createIdempotencyStore(
  client: DynamoDBDocumentClient,
  tableName: string,
  expiresAfterSeconds: number,
): IdempotencyStore {
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client });
  return {
    async once(request, budget, answer) {
      const config = new IdempotencyConfig({
        eventKeyJmesPath: '[tenantId, idempotencyKey]',
        payloadValidationJmesPath: 'requestHash',
        throwOnNoIdempotencyKey: true,
        hashFunction: 'sha256',
        expiresAfterSeconds,
      });
      // The time that is left frees the key again when this invocation dies before it has answered.
      const context = { getRemainingTimeInMillis: () => budget.remainingMs() };
      const once = makeIdempotent(async (_request: typeof request, _context: typeof context) => answer(), {
        persistenceStore,
        config,
        keyPrefix: 'submissions',
      });
      try {
        return await once(request, context);
      } catch (error) {
        throw translate(error, tableName);
      }
    },
  };
}

function translate(error: unknown, tableName: string): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === 'IdempotencyValidationError') {
    return new KeyReusedError('The idempotency key was used with another request.', { cause: error });
  }
  if (error.name === 'IdempotencyAlreadyInProgressError') {
    return new InProgressError('A request with this idempotency key is under way.', { cause: error });
  }
  const doing = 'looking for a remembered answer';
  // Powertools does not say which of its calls failed; a refusal itself names it.
  const call = { service: 'dynamodb', action: 'GetItem', resource: tableName } as const;
  if (!UNSTABLE.includes(error.name)) return dependencyError(error, doing, call);
  const cause = dependencyError(error.cause, doing, call);
  if (cause instanceof DependencyUnavailableError) return cause;
  return new DependencyUnavailableError('The memory of answers does not work.', { cause: error });
}
