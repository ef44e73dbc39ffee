import type { AuthorizationDecision } from '../../contract.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { ConditionContext } from '../authorization/context.ts';
import type { Call } from './call.ts';
import { AwsError, DEFAULT_DIALECT, dialects } from './errors.ts';
import type { FaultInjector } from './faults.ts';

/** One permission that a call needs. */
export interface Check {
  readonly action: string;
  readonly resource: string;
  readonly context?: ConditionContext;
}

/** What every call passes before anything is done for it: authorization, then the faults that are switched on. */
export class Gate {
  readonly #authorizer: Authorizer;
  readonly #faults: FaultInjector;

  constructor(authorizer: Authorizer, faults: FaultInjector) {
    this.#authorizer = authorizer;
    this.#faults = faults;
  }

  /** @throws AwsError in the service's words when a permission is missing, or when a fault says so */
  async pass(call: Call, checks: readonly Check[]): Promise<void> {
    const dialect = dialects[call.service] ?? DEFAULT_DIALECT;
    const { principal } = call;
    if (principal === undefined) {
      throw new AwsError(dialect.accessDenied.status, dialect.accessDenied.code, 'The request is not signed.');
    }
    for (const check of checks) {
      const decision = await this.#authorizer.authorize({ principal, ...check });
      if (!decision.allowed) {
        throw new AwsError(dialect.accessDenied.status, dialect.accessDenied.code, decision.message);
      }
    }
    this.#injectFault(call, checks[0]?.action ?? '');
  }

  /** Whether the caller has a permission that only decides how an answer looks; a refusal is not recorded. */
  async wouldAllow(call: Call, check: Check): Promise<boolean> {
    if (call.principal === undefined) return false;
    const decision: AuthorizationDecision = await this.#authorizer.decide({ principal: call.principal, ...check });
    return decision.allowed;
  }

  #injectFault(call: Call, action: string): void {
    const { service, operation, principal } = call;
    if (principal === undefined) return;
    const fault = this.#faults.draw({ service, operation, action, principal });
    const dialect = dialects[service] ?? DEFAULT_DIALECT;
    if (fault === 'throttle') {
      throw new AwsError(dialect.throttled.status, dialect.throttled.code, `Rate exceeded (injected fault).`);
    }
    if (fault === 'unavailable') {
      throw new AwsError(dialect.unavailable.status, dialect.unavailable.code, 'Unavailable (injected fault).');
    }
    call.losesReply = fault === 'lost_reply';
  }
}
