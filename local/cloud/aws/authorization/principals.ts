import type { Role } from './policies.ts';

/** Who makes a call. */
export type Principal =
  /** A session of a role; its name is the function's. */
  | { readonly kind: 'role'; readonly role: Role; readonly arn: string; readonly functionName: string | undefined }
  /** An AWS service acting for itself, such as `cloudwatch.amazonaws.com`. */
  | { readonly kind: 'service'; readonly arn: string; readonly functionName: undefined }
  /** Whoever calls without a signature. */
  | { readonly kind: 'anonymous'; readonly arn: string; readonly functionName: undefined }
  /** The operator: everything is allowed. */
  | { readonly kind: 'operator'; readonly arn: string; readonly functionName: undefined };

export function roleSession(role: Role, functionName: string | undefined, accountId: string): Principal {
  const arn = `arn:aws:sts::${accountId}:assumed-role/${role.name}/${functionName ?? 'session'}`;
  return { kind: 'role', role, arn, functionName };
}

export function servicePrincipal(name: string): Principal {
  return { kind: 'service', arn: name, functionName: undefined };
}

export const ANONYMOUS: Principal = { kind: 'anonymous', arn: 'anonymous', functionName: undefined };

export function operatorPrincipal(accountId: string): Principal {
  return { kind: 'operator', arn: `arn:aws:iam::${accountId}:root`, functionName: undefined };
}
