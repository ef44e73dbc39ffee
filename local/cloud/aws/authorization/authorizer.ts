import type { AuthorizationDecision, Denial, StatementReference, UsedStatement } from '../../contract.ts';
import { baseArn } from './arns.ts';
import { type ConditionContext, mentionedConditionKeys, relevantContext } from './context.ts';
import { conditionKeysOf } from './documents.ts';
import { ALLOWED, type Decision, implicitRefusal, type AuthorizationQuery } from './decision.ts';
import { keyActionsFor, SERVICE_OWNED_KEY } from './keys.ts';
import { type NamedPolicy, type PolicySet, statementsOf, withoutStatement } from './policies.ts';
import type { Principal } from './principals.ts';
import { simulate } from './simulation.ts';

/** Object keys and prefixes make many different queries; beyond this many answers the cache starts again. */
const MAX_CACHED = 50_000;
const MAX_DENIALS = 10_000;
const LEADING_KEYS = 'dynamodb:leadingkeys';

/**
 * Decides whether a principal may do something, as IAM would from the templates' policies: identity policies, permission
 * boundaries, resource policies and the policies of encryption keys. Remembers what it decided, what it refused, and which
 * statements allowed something.
 */
export class Authorizer {
  readonly #policies: PolicySet;
  readonly #keys: ReadonlyMap<string, string>;
  readonly #region: string;
  readonly #accountId: string;
  readonly #statements: ReadonlyMap<string, StatementReference>;
  readonly #mentioned: ReadonlySet<string>;
  readonly #mentionedByRole = new Map<string, ReadonlySet<string>>();
  readonly #decisions = new Map<string, { query: AuthorizationQuery; decision: Decision }>();
  readonly #uses = new Map<string, Map<string, number>>();
  readonly #denials: Denial[] = [];
  /** Decides in place of this one while a statement is withheld. */
  #reduced: Authorizer | undefined;

  constructor(
    policies: PolicySet,
    keys: ReadonlyMap<string, string>,
    environment: { region: string; accountId: string },
  ) {
    this.#policies = policies;
    this.#keys = keys;
    this.#region = environment.region;
    this.#accountId = environment.accountId;
    this.#statements = statementsOf(policies);
    this.#mentioned = mentionedConditionKeys(allPolicies(policies));
  }

  /** Decides, and records a refusal or the use of the statements that allowed it. */
  async authorize(query: AuthorizationQuery): Promise<AuthorizationDecision> {
    if (query.principal.kind === 'operator') return ALLOWED;
    const decision = await this.decide(query);
    if (!decision.allowed) this.#recordDenial(query.principal, decision);
    // Statements behind one that is withheld have other positions.
    else if (this.#reduced === undefined) {
      for (const id of decision.statements) this.#countUse(id, query.action);
    }
    return decision;
  }

  /** Decides without recording anything. */
  async decide(query: AuthorizationQuery): Promise<Decision> {
    if (query.principal.kind === 'operator') return ALLOWED;
    if (this.#reduced !== undefined) {
      return this.#reduced.decide({ ...query, principal: withRoleOf(query.principal, this.#reduced.#policies) });
    }
    const { values, cacheKey } = relevantContext(this.#contextOf(query), this.#mentionedBy(query.principal));
    const key = `${query.principal.arn}\n${query.action}\n${query.resource}\n${cacheKey}`;
    const known = this.#decisions.get(key);
    if (known !== undefined) return known.decision;
    const decision = await this.#decideWithKey(query, values);
    if (this.#decisions.size >= MAX_CACHED) this.#decisions.clear();
    this.#decisions.set(key, { query, decision });
    return decision;
  }

  /**
   * What of all that was allowed so far would be refused if the policies lacked this statement: whether anything needs it,
   * without running anything again.
   */
  async refusedWithout(statement: StatementReference): Promise<Omit<Denial, 'atMs'>[]> {
    const other = this.#without(statement);
    const policies = other.#policies;
    const refused: Omit<Denial, 'atMs'>[] = [];
    for (const { query, decision } of this.#decisions.values()) {
      if (!decision.allowed) continue;
      const principal = withRoleOf(query.principal, policies);
      const { allowed, action, resource, message } = await other.decide({ ...query, principal });
      if (allowed) continue;
      refused.push({ principal: principal.arn, functionName: principal.functionName, action, resource, message });
    }
    return refused;
  }

  /** Decides as if the policies lacked this statement, until the returned function is called. One statement at a time. */
  withhold(statement: StatementReference): () => void {
    const reduced = this.#without(statement);
    this.#reduced = reduced;
    return () => {
      if (this.#reduced === reduced) this.#reduced = undefined;
    };
  }

  #without(statement: StatementReference): Authorizer {
    const policies = withoutStatement(this.#policies, statement);
    return new Authorizer(policies, this.#keys, { region: this.#region, accountId: this.#accountId });
  }

  denials(): readonly Denial[] {
    return [...this.#denials];
  }

  usedStatements(): UsedStatement[] {
    return [...this.#uses].flatMap(([id, calls]) => {
      const statement = this.#statements.get(id);
      return statement === undefined ? [] : [{ ...statement, calls: Object.fromEntries(calls) }];
    });
  }

  /** Statements that grant something and have allowed nothing so far. */
  unusedStatements(): StatementReference[] {
    return [...this.#statements]
      .filter(([id, { effect }]) => effect === 'Allow' && !this.#uses.has(id))
      .map(([, statement]) => statement);
  }

  async #decideWithKey(query: AuthorizationQuery, values: Record<string, string | string[]>): Promise<Decision> {
    const own = await simulate(query, values, this.#policies, this.#accountId);
    const key = own.allowed ? this.#keys.get(baseArn(query.resource)) : undefined;
    if (key === undefined) return own;
    const statements = [...own.statements];
    for (const action of keyActionsFor(query.action)) {
      const decision = await this.#decideKey(query, action, key);
      if (!decision.allowed) return decision;
      statements.push(...decision.statements);
    }
    return { ...own, statements };
  }

  async #decideKey(query: AuthorizationQuery, action: string, key: string): Promise<Decision> {
    if (key.startsWith(SERVICE_OWNED_KEY)) {
      if (query.principal.kind === 'role') return ALLOWED;
      return implicitRefusal({ principal: query.principal, action, resource: key }, 'resource');
    }
    const service = query.action.split(':')[0];
    const context = { ...query.context, 'kms:ViaService': `${service}.${this.#region}.amazonaws.com` };
    return this.decide({ principal: query.principal, action, resource: key, context });
  }

  /** Keys that tell items apart count for those roles only that are restricted by them: to others they are all one query. */
  #mentionedBy(principal: Principal): ReadonlySet<string> {
    if (principal.kind !== 'role') return this.#mentioned;
    const { role } = principal;
    let mentioned = this.#mentionedByRole.get(role.arn);
    if (mentioned === undefined) {
      const own = new Set(role.policies.flatMap(({ document }) => conditionKeysOf(document)));
      mentioned = new Set([...this.#mentioned].filter((key) => key !== LEADING_KEYS || own.has(key)));
      this.#mentionedByRole.set(role.arn, mentioned);
    }
    return mentioned;
  }

  #contextOf({ principal, context }: AuthorizationQuery): ConditionContext {
    return {
      'aws:SecureTransport': 'true',
      'aws:RequestedRegion': this.#region,
      'aws:ResourceAccount': this.#accountId,
      'aws:ViaAWSService': 'false',
      ...(principal.kind === 'role'
        ? {
            'aws:PrincipalArn': principal.role.arn,
            'aws:PrincipalAccount': this.#accountId,
            'aws:PrincipalType': 'AssumedRole',
            'aws:PrincipalIsAWSService': 'false',
            'aws:SourceIp': '127.0.0.1',
            'kms:CallerAccount': this.#accountId,
          }
        : principal.kind === 'anonymous'
          ? { 'aws:PrincipalIsAWSService': 'false', 'aws:SourceIp': '127.0.0.1' }
          : { 'aws:PrincipalIsAWSService': 'true', 'aws:PrincipalServiceName': principal.arn }),
      ...context,
    };
  }

  #countUse(id: string, action: string): void {
    const calls = this.#uses.get(id) ?? new Map<string, number>();
    calls.set(action, (calls.get(action) ?? 0) + 1);
    this.#uses.set(id, calls);
  }

  #recordDenial(principal: Principal, { action, resource, message }: Decision): void {
    if (this.#denials.length >= MAX_DENIALS) this.#denials.shift();
    const { arn, functionName } = principal;
    this.#denials.push({ atMs: Date.now(), principal: arn, functionName, action, resource, message });
  }
}

/** The same principal with its role as `policies` has it. */
function withRoleOf(principal: Principal, { roles }: PolicySet): Principal {
  const role = principal.kind === 'role' ? roles.get(principal.role.arn) : undefined;
  return principal.kind === 'role' && role !== undefined ? { ...principal, role } : principal;
}

function* allPolicies({
  roles,
  resources,
}: PolicySet): Generator<{ place: string; document: NamedPolicy['document'] }> {
  for (const role of roles.values()) {
    for (const { name, document } of role.policies) yield { place: `Policy ${name} of role ${role.name}`, document };
    if (role.boundary !== undefined) yield { place: `Boundary of role ${role.name}`, document: role.boundary.document };
  }
  for (const { arn, policies } of resources.values()) {
    for (const { name, document } of policies) yield { place: `Policy ${name} of ${arn}`, document };
  }
}
