import type { DeployedResource, Json, StatementReference } from '../../contract.ts';
import { LocalCloudError } from '../../errors.ts';
import { textOf } from '../shapes.ts';
import { awsManagedPolicies } from './aws-managed-policies.ts';
import { baseArn } from './arns.ts';
import { parsePolicy, type PolicyDocument } from './documents.ts';

export interface NamedPolicy {
  /** An inline policy's name, a managed policy's ARN, or the logical id of a resource policy. */
  readonly name: string;
  readonly document: PolicyDocument;
}

export interface Role {
  readonly name: string;
  readonly arn: string;
  readonly trust: PolicyDocument;
  readonly policies: NamedPolicy[];
  readonly boundary: NamedPolicy | undefined;
  readonly functionNames: string[];
}

/** Policies of a bucket, queue, topic, secret, key, table or function. */
export interface ResourcePolicies {
  readonly arn: string;
  readonly policies: NamedPolicy[];
}

export interface PolicySet {
  /** By role ARN. */
  readonly roles: ReadonlyMap<string, Role>;
  /** By the resource's ARN. */
  readonly resources: ReadonlyMap<string, ResourcePolicies>;
}

/** Collects every policy that the templates declare. */
export function collectPolicies(deployed: readonly DeployedResource[]): PolicySet {
  const roles = collectRoles(deployed);
  const resources = new Map<string, ResourcePolicies>();
  const add = (arn: string, policy: NamedPolicy): void => {
    const known = resources.get(arn) ?? { arn, policies: [] };
    known.policies.push(policy);
    resources.set(arn, known);
  };
  // A bucket policy's own id is the bucket's name; only what has an ARN can have policies.
  const byId = new Map(deployed.filter(({ arn }) => arn !== '').map((resource) => [resource.physicalId, resource]));
  for (const resource of deployed) {
    for (const { target, document } of resourcePoliciesOf(resource)) {
      const arn = target.startsWith('arn:') ? baseArn(target) : byId.get(target)?.arn;
      if (arn === undefined)
        throw new LocalCloudError(`${place(resource)} is for ${target}, which no template declares.`);
      add(arn, { name: resource.logicalId, document });
    }
  }
  return { roles, resources };
}

/** Every statement of the templates' policies, by an id that is unique among them. */
export function statementsOf({ roles, resources }: PolicySet): Map<string, StatementReference> {
  const statements = new Map<string, StatementReference>();
  const add = (owner: string, kind: 'identity' | 'resource', functionNames: string[], policy: NamedPolicy): void => {
    policy.document.Statement.forEach((statement, index) => {
      statements.set(statementId(kind, owner, policy.name, index), {
        owner,
        functionNames,
        kind,
        policy: policy.name,
        index,
        sid: statement.Sid,
        effect: statement.Effect,
        actions: statement.Action ?? statement.NotAction?.map((action) => `not ${action}`) ?? [],
        resources: statement.Resource ?? statement.NotResource?.map((resource) => `not ${resource}`) ?? [],
      });
    });
  };
  for (const role of roles.values()) {
    for (const policy of role.policies) add(role.name, 'identity', role.functionNames, policy);
  }
  for (const { arn, policies } of resources.values()) for (const policy of policies) add(arn, 'resource', [], policy);
  return statements;
}

/** The same policies without one statement. Roles and their functions stay as they are. */
export function withoutStatement(
  { roles, resources }: PolicySet,
  { kind, owner, policy, index }: Pick<StatementReference, 'kind' | 'owner' | 'policy' | 'index'>,
): PolicySet {
  const reduce = (policies: readonly NamedPolicy[]): NamedPolicy[] =>
    policies.map(({ name, document }) => {
      const Statement = document.Statement.filter((_, position) => name !== policy || position !== index);
      return { name, document: { ...document, Statement } };
    });
  return {
    roles: mapValues(roles, (role) =>
      kind === 'identity' && role.name === owner ? { ...role, policies: reduce(role.policies) } : role,
    ),
    resources: mapValues(resources, (own) =>
      kind === 'resource' && own.arn === owner ? { ...own, policies: reduce(own.policies) } : own,
    ),
  };
}

const mapValues = <V>(map: ReadonlyMap<string, V>, change: (value: V) => V): Map<string, V> =>
  new Map([...map].map(([key, value]) => [key, change(value)]));

export function statementId(kind: 'identity' | 'resource', owner: string, policy: string, index: number): string {
  return [kind, owner, policy, index].join('\u0000');
}

function collectRoles(deployed: readonly DeployedResource[]): Map<string, Role> {
  const managed = new Map(
    deployed
      .filter(({ type }) => type === 'AWS::IAM::ManagedPolicy')
      .map((policy) => [policy.arn, { name: policy.arn, document: document(policy, 'PolicyDocument') }]),
  );
  const managedPolicy = (arn: string, resource: DeployedResource): NamedPolicy => {
    const own = managed.get(arn) ?? awsManaged(arn);
    if (own !== undefined) return own;
    throw new LocalCloudError(
      `${place(resource)} uses the managed policy ${arn}; say what it allows in aws/authorization/aws-managed-policies.ts of the local cloud.`,
    );
  };
  const roles = new Map<string, Role>();
  for (const resource of deployed.filter(({ type }) => type === 'AWS::IAM::Role')) {
    const boundary = resource.properties['PermissionsBoundary'];
    roles.set(resource.arn, {
      name: resource.physicalId,
      arn: resource.arn,
      trust: document(resource, 'AssumeRolePolicyDocument'),
      policies: [
        ...inlinePolicies(resource),
        ...texts(resource.properties['ManagedPolicyArns']).map((arn) => managedPolicy(arn, resource)),
      ],
      boundary: typeof boundary === 'string' ? managedPolicy(boundary, resource) : undefined,
      functionNames: functionsOf(resource.arn, deployed),
    });
  }
  attachPolicies(deployed, new Map([...roles.values()].map((role) => [role.name, role])));
  return roles;
}

function attachPolicies(deployed: readonly DeployedResource[], rolesByName: ReadonlyMap<string, Role>): void {
  for (const resource of deployed) {
    const isManaged = resource.type === 'AWS::IAM::ManagedPolicy';
    if (resource.type !== 'AWS::IAM::Policy' && !isManaged) continue;
    for (const name of texts(resource.properties['Roles'])) {
      const role = rolesByName.get(name);
      if (role === undefined)
        throw new LocalCloudError(`${place(resource)} is for the role ${name}, which is unknown.`);
      const policyName = isManaged ? resource.arn : resource.physicalId;
      role.policies.push({ name: policyName, document: document(resource, 'PolicyDocument') });
    }
  }
}

function inlinePolicies(role: DeployedResource): NamedPolicy[] {
  const policies = role.properties['Policies'];
  if (!Array.isArray(policies)) return [];
  return policies.map((policy, index) => {
    const { PolicyName, PolicyDocument } =
      typeof policy === 'object' && policy !== null && !Array.isArray(policy) ? policy : {};
    return { name: textOf(PolicyName), document: parsePolicy(PolicyDocument, `${place(role)}, policy ${index}`) };
  });
}

function functionsOf(roleArn: string, deployed: readonly DeployedResource[]): string[] {
  return deployed
    .filter(({ type, properties }) => type === 'AWS::Lambda::Function' && properties['Role'] === roleArn)
    .map(({ physicalId }) => physicalId);
}

/** Policies that a resource declares for itself or for other resources, by the id or ARN of what they protect. */
function resourcePoliciesOf(resource: DeployedResource): { target: string; document: PolicyDocument }[] {
  const { type, properties, arn } = resource;
  switch (type) {
    case 'AWS::S3::BucketPolicy':
      return targets(resource, 'Bucket', 'PolicyDocument');
    case 'AWS::SQS::QueuePolicy':
      return targets(resource, 'Queues', 'PolicyDocument');
    case 'AWS::SNS::TopicPolicy':
      return targets(resource, 'Topics', 'PolicyDocument');
    case 'AWS::SecretsManager::ResourcePolicy':
      return targets(resource, 'SecretId', 'ResourcePolicy');
    case 'AWS::KMS::Key':
      return [{ target: arn, document: document(resource, 'KeyPolicy') }];
    case 'AWS::DynamoDB::Table':
      return tablePolicy(resource, properties['ResourcePolicy']);
    case 'AWS::DynamoDB::GlobalTable':
      return [properties['Replicas'] ?? []].flat().flatMap((replica) => {
        const policy = replica !== null && typeof replica === 'object' && !Array.isArray(replica) ? replica : {};
        return tablePolicy(resource, policy['ResourcePolicy']);
      });
    case 'AWS::Lambda::Permission':
      return [permission(resource)];
    default:
      return [];
  }
}

function tablePolicy(
  resource: DeployedResource,
  policy: Json | undefined,
): { target: string; document: PolicyDocument }[] {
  if (typeof policy !== 'object' || policy === null || Array.isArray(policy)) return [];
  return [{ target: resource.arn, document: parsePolicy(policy['PolicyDocument'], place(resource)) }];
}

function targets(resource: DeployedResource, property: string, policy: string): ReturnType<typeof resourcePoliciesOf> {
  return texts(resource.properties[property]).map((target) => ({ target, document: document(resource, policy) }));
}

/** A Lambda permission is one statement of the function's resource policy. */
function permission(resource: DeployedResource): { target: string; document: PolicyDocument } {
  const { Action, FunctionName, Principal, SourceAccount, SourceArn, FunctionUrlAuthType, InvokedViaFunctionUrl } =
    resource.properties;
  const principal = textOf(Principal);
  const target = textOf(FunctionName);
  const isService = principal.includes('.amazonaws.com');
  const conditions = {
    ...(SourceArn === undefined ? {} : { ArnLike: { 'aws:SourceArn': SourceArn } }),
    ...(SourceAccount === undefined ? {} : { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
    ...(FunctionUrlAuthType === undefined ? {} : { StringLike: { 'lambda:FunctionUrlAuthType': FunctionUrlAuthType } }),
    ...(InvokedViaFunctionUrl === undefined
      ? {}
      : { Bool: { 'lambda:InvokedViaFunctionUrl': InvokedViaFunctionUrl === true ? 'true' : 'false' } }),
  };
  const statement = {
    Sid: resource.logicalId,
    Effect: 'Allow',
    Principal: principal === '*' ? '*' : isService ? { Service: principal } : { AWS: principal },
    Action: textOf(Action),
    Resource: '*',
    ...(Object.keys(conditions).length === 0 ? {} : { Condition: conditions }),
  };
  return { target, document: parsePolicy({ Version: '2012-10-17', Statement: [statement] }, place(resource)) };
}

function document(resource: DeployedResource, property: string): PolicyDocument {
  return parsePolicy(resource.properties[property], `${place(resource)}, property ${property}`);
}

function awsManaged(arn: string): NamedPolicy | undefined {
  const known = awsManagedPolicies[arn.replace(/^arn:aws:iam::aws:policy\//, '')];
  return known === undefined ? undefined : { name: arn, document: known };
}

function texts(value: Json | undefined): string[] {
  return [value ?? []].flat().filter((item) => typeof item === 'string');
}

function place(resource: DeployedResource): string {
  return `${resource.stack}/${resource.logicalId} (${resource.type})`;
}
