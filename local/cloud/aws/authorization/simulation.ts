import { type RequestAnalysis, runSimulation } from '@cloud-copilot/iam-simulate';
import { baseArn } from './arns.ts';
import { ALLOWED, type Decision, type AuthorizationQuery, refusal, refusalOf } from './decision.ts';
import { type NamedPolicy, type PolicySet, statementId } from './policies.ts';

/**
 * Asks the policy simulator. An action that IAM does not know is refused by name: it is a mistake in the local cloud or in
 * a policy, and allowing it would hide that.
 *
 * @param values condition keys of the request
 */
export async function simulate(
  query: AuthorizationQuery,
  values: Record<string, string | string[]>,
  policies: PolicySet,
  accountId: string,
): Promise<Decision> {
  const { principal, action, resource } = query;
  const role = principal.kind === 'role' ? principal.role : undefined;
  const owner = baseArn(resource);
  const trust = action === 'sts:AssumeRole' ? policies.roles.get(resource)?.trust : undefined;
  const resourcePolicies =
    trust === undefined ? (policies.resources.get(owner)?.policies ?? []) : [{ name: 'Trust', document: trust }];
  const result = await runSimulation(
    {
      request: {
        principal: principal.kind === 'anonymous' ? { type: 'Anonymous' } : principal.arn,
        action,
        resource: { resource, accountId },
        contextVariables: values,
      },
      identityPolicies: (role?.policies ?? []).map(({ name, document }) => ({ name, policy: document })),
      ...(role?.boundary === undefined
        ? {}
        : { permissionBoundaryPolicies: [{ name: role.boundary.name, policy: role.boundary.document }] }),
      ...(resourcePolicies.length === 0 ? {} : { resourcePolicy: merged(resourcePolicies) }),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  if (result.resultType === 'error') {
    return refusal(query, `because the policy simulator does not accept it: ${JSON.stringify(result.errors)}`);
  }
  const analysis = result.resultType === 'single' ? result.result.analysis : result.results[0]?.analysis;
  if (result.overallResult !== 'Allowed' || analysis === undefined) return refusalOf(query, analysis);
  return { ...ALLOWED, statements: grants(analysis, role?.name ?? '', owner, resourcePolicies) };
}

/** Ids of the statements that granted it, from the analysis' positions in the policies that were given. */
function grants(
  analysis: RequestAnalysis,
  roleName: string,
  owner: string,
  resourcePolicies: readonly NamedPolicy[],
): string[] {
  const identity = (analysis.identityAnalysis?.allowStatements ?? []).map(({ policyId, statement }) =>
    statementId('identity', roleName, policyId, statement.index() - 1),
  );
  const resource = (analysis.resourceAnalysis?.allowStatements ?? []).map(({ statement }) => {
    let index = statement.index() - 1;
    for (const { name, document } of resourcePolicies) {
      if (index < document.Statement.length) return statementId('resource', owner, name, index);
      index -= document.Statement.length;
    }
    return '';
  });
  return [...identity, ...resource];
}

function merged(policies: readonly NamedPolicy[]): { Version: string; Statement: unknown[] } {
  return { Version: '2012-10-17', Statement: policies.flatMap(({ document }) => document.Statement) };
}
