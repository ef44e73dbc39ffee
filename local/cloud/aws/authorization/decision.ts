import { getDenialReasons, type RequestAnalysis } from '@cloud-copilot/iam-simulate';
import type { AuthorizationDecision } from '../../contract.ts';
import type { ConditionContext } from './context.ts';
import type { Principal } from './principals.ts';

/** One action on one resource. */
export interface AuthorizationQuery {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  readonly context?: ConditionContext;
}

export interface Decision extends AuthorizationDecision {
  /** Ids of the statements that allowed it. */
  readonly statements: readonly string[];
  /** What the decision was about: a call may be refused for its key. */
  readonly action: string;
  readonly resource: string;
}

export const ALLOWED: Decision = { allowed: true, message: '', statements: [], action: '', resource: '' };

const MISSING = {
  identity: 'because no identity-based policy allows the',
  resource: 'because no resource-based policy allows the',
  boundary: 'because no permissions boundary allows the',
} as const;

/** A refusal because nothing allows it. */
export function implicitRefusal(query: AuthorizationQuery, missing: keyof typeof MISSING): Decision {
  return refusal(query, `${MISSING[missing]} ${query.action} action`);
}

/** A refusal in the words of AWS: who may not do what on which resource, and why. */
export function refusal(query: AuthorizationQuery, reason: string): Decision {
  const { principal, action, resource } = query;
  const message = `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource} ${reason}`;
  return { allowed: false, message, statements: [], action, resource };
}

/** The refusal that a simulation's analysis amounts to. */
export function refusalOf(query: AuthorizationQuery, analysis: RequestAnalysis | undefined): Decision {
  const reasons = analysis === undefined ? [] : getDenialReasons(analysis);
  const explicit = reasons.find(({ denialType }) => denialType === 'Explicit');
  if (explicit !== undefined) {
    const kind = explicit.policyType === 'resource' ? 'a resource-based' : 'an identity-based';
    return refusal(query, `with an explicit deny in ${kind} policy`);
  }
  if (reasons.some(({ policyType }) => policyType === 'pb')) return implicitRefusal(query, 'boundary');
  return implicitRefusal(query, query.principal.kind === 'role' ? 'identity' : 'resource');
}
