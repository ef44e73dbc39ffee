import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { synthesize, type Synthesized } from './synthesized.ts';

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => (typeof value === 'string' ? [value] : value)),
);
const policySchema = v.object({
  Roles: v.array(v.unknown()),
  PolicyDocument: v.object({
    Statement: v.array(
      v.object({
        Sid: v.string(),
        Effect: v.literal('Allow'),
        Action: oneOrMore,
        Resource: v.unknown(),
        Condition: v.optional(v.unknown()),
      }),
    ),
  }),
});
const roleSchema = v.object({
  ManagedPolicyArns: v.optional(v.unknown()),
  Policies: v.optional(v.unknown()),
  AssumeRolePolicyDocument: v.object({
    Statement: v.array(v.object({ Principal: v.object({ Service: v.string() }) })),
  }),
});
const functionSchema = v.object({
  Role: v.unknown(),
  Environment: v.object({ Variables: v.objectWithRest({ POWERTOOLS_SERVICE_NAME: v.string() }, v.unknown()) }),
});

const { ofType, referenced } = synthesize(dev);
const functions = ofType('AWS::Lambda::Function', functionSchema);
const statements = ofType('AWS::IAM::Policy', policySchema).flatMap(({ properties }) => {
  const roles = properties.Roles.map((role) => referenced(role));
  const fn = functions.find((candidate) => roles.includes(referenced(candidate.properties.Role)));
  const name = fn?.properties.Environment.Variables.POWERTOOLS_SERVICE_NAME ?? 'nobody';
  return properties.PolicyDocument.Statement.map((statement) => ({ name, roles, ...statement }));
});
const actionsOf = (name: string): string[] =>
  statements.filter((statement) => statement.name === name).flatMap(({ Action }) => Action);
const holdersOf = (action: string): string[] => [
  ...new Set(statements.filter(({ Action }) => Action.includes(action)).map(({ name }) => name)),
];

describe('the policies of the functions', () => {
  it('belong to functions', () => {
    expect(statements.length).toBeGreaterThan(40);
    expect(statements.filter(({ name }) => name === 'nobody')).toEqual([]);
  });

  it('name every action', () => {
    for (const { Action } of statements) {
      for (const action of Action) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
    }
  });

  it('name every resource, down to the prefix of a bucket', () => {
    const wildcards = statements.filter(({ Resource }) => JSON.stringify(Resource).includes('*'));
    for (const { Sid, Resource } of wildcards) {
      expect([
        'ReadSources',
        'ReadUploads',
        'KeepUploads',
        'WritePrepared',
        'WriteResults',
        'ReadResults',
        'SetApart',
      ]).toContain(Sid);
      expect(JSON.stringify(Resource)).toMatch(/"\/(?:uploads|prepared|results|set-apart)\/\*"\]\]\}\]?$/);
    }
    expect(wildcards).toHaveLength(13);
  });

  it('have a name for every statement, once in a role', () => {
    const names = statements.map(({ roles, Sid }) => `${roles.join()} ${Sid}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('let nobody list, delete or administer', () => {
    const forbidden =
      /:(?:\*|List(?!Bucket$)|Delete(?!Message$|Item$)|Create(?!LogStream$)|Put(?!Item$|Object$|LogEvents$)|Update(?!Item$))/;
    for (const { Action } of statements) for (const action of Action) expect(action).not.toMatch(forbidden);
    expect(holdersOf('dynamodb:DeleteItem')).toEqual(['submit']);
  });

  it('let readers of the bucket list the prefix that they read, so that 404 means missing and 403 means denied', () => {
    const listing = statements.filter(({ Action }) => Action.includes('s3:ListBucket'));
    for (const { Action, Condition, Resource } of listing) {
      expect(Action).toEqual(['s3:ListBucket']);
      expect(JSON.stringify(Resource)).not.toContain('*');
      expect(JSON.stringify(Condition)).toMatch(
        /^\{"StringLike":\{"s3:prefix":\["?(?:uploads\/\*|uploads\/\*","prepared\/\*|results\/\*)"?\]\}\}$/,
      );
    }
    const prefixes = (action: string) =>
      statements
        .filter(({ Action }) => Action.includes(action))
        .map(
          ({ name, Resource, Condition }) =>
            `${name} ${/uploads|results/.exec(JSON.stringify([Resource, Condition]))?.[0]}`,
        )
        .sort();
    expect(prefixes('s3:ListBucket')).toEqual(prefixes('s3:GetObject'));
  });

  it('give the credentials of the providers to the workers only', () => {
    expect(holdersOf('secretsmanager:GetSecretValue')).toEqual(['worker']);
  });

  it('let the status function write nothing but its log', () => {
    const writing = actionsOf('status').filter((action) => !/:(?:Get|BatchGet|Query|ListBucket)/.test(action));
    expect(writing.sort()).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
  });

  it('let the authorizer read one item at a time of one table', () => {
    const beyondLog = actionsOf('authorizer').filter((action) => !action.startsWith('logs:'));
    expect(beyondLog).toEqual(['dynamodb:GetItem']);
  });

  it('keep the worker away from every file', () => {
    expect(actionsOf('worker').filter((action) => action.startsWith('s3:'))).toEqual([]);
  });

  it('let only redrive look through everything, and that by an index that holds nothing but keys', () => {
    const scanning = statements.filter(({ Action }) => Action.includes('dynamodb:Scan'));
    expect(scanning.map(({ name }) => name)).toEqual(['redrive']);
    expect(JSON.stringify(scanning.map(({ Resource }) => Resource))).toMatch(/"\/index\/byTenant"\]\]\}\]$/);
  });

  it('let no function invoke another', () => {
    expect(holdersOf('lambda:InvokeFunction')).toEqual([]);
  });

  it('reach only the queue of their own lane', () => {
    for (const lane of ['SmallLane', 'BulkLane']) {
      const other = lane === 'SmallLane' ? 'BulkLane' : 'SmallLane';
      const own = statements.filter(({ roles }) => roles.some((role) => role.startsWith(lane)));
      expect(own.length).toBeGreaterThan(5);
      expect(JSON.stringify(own.map(({ Resource }) => Resource))).not.toContain(other);
    }
  });

  it('are all there is: no role of a function has managed or further inline policies', () => {
    for (const { properties } of ofType('AWS::IAM::Role', roleSchema)) {
      const [principal] = properties.AssumeRolePolicyDocument.Statement.map(({ Principal }) => Principal.Service);
      if (principal !== 'lambda.amazonaws.com') continue;
      expect(properties.ManagedPolicyArns).toBeUndefined();
      expect(properties.Policies).toBeUndefined();
    }
  });
});

it('nothing is deployed that runs with more than a function has; only a stage that goes with its data empties its buckets', () => {
  const custom = ({ resources: all }: Synthesized): string[] =>
    all.map(({ type }) => type).filter((type) => type.startsWith('Custom::') || type.startsWith('AWS::CloudFormation'));
  expect(custom(synthesize(prod))).toEqual([]);
  expect(new Set(custom(synthesize(dev)))).toEqual(new Set(['Custom::S3AutoDeleteObjects']));
});
