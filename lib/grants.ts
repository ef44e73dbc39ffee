import { CfnElement, type App } from 'aws-cdk-lib';
import * as v from 'valibot';
import type { Sluice } from './sluice.ts';
import { suppressions } from './suppressions.ts';

/** One statement of a function's role. */
export interface Grant {
  /** Name under `lambdas`, and the lane of a worker. */
  readonly holder: string;
  /** What it is for. */
  readonly sid: string;
  readonly actions: readonly string[];
  /** Construct paths, and what of the resource: `Tables/Submissions/index/open`. */
  readonly resources: readonly string[];
  /** Keys of the items or objects that it is restricted to; none: all. */
  readonly items: readonly string[];
}

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => (typeof value === 'string' ? [value] : value)),
);
const resourceSchema = v.object({
  Type: v.string(),
  Properties: v.optional(v.record(v.string(), v.unknown()), {}),
});
const templateSchema = v.object({
  Resources: v.record(v.string(), resourceSchema),
  Outputs: v.optional(
    v.record(v.string(), v.object({ Value: v.unknown(), Export: v.optional(v.object({ Name: v.unknown() })) })),
    {},
  ),
});
/** The conditions that roles have: which items of a table, and which keys of a bucket. */
const leadingKeys = v.strictObject({
  'ForAllValues:StringLike': v.strictObject({ 'dynamodb:LeadingKeys': oneOrMore }),
});
const keyPrefix = v.strictObject({ StringLike: v.strictObject({ 's3:prefix': oneOrMore }) });
const policySchema = v.object({
  Roles: v.array(v.unknown()),
  PolicyDocument: v.object({
    Statement: v.array(
      v.object({
        Sid: v.string(),
        Effect: v.literal('Allow'),
        Action: oneOrMore,
        Resource: v.unknown(),
        Condition: v.optional(v.union([leadingKeys, keyPrefix])),
      }),
    ),
  }),
});
const functionSchema = v.object({
  Role: v.unknown(),
  Environment: v.object({
    Variables: v.objectWithRest({ POWERTOOLS_SERVICE_NAME: v.string(), LANE: v.optional(v.string()) }, v.unknown()),
  }),
});

const ref = v.strictObject({ Ref: v.string() });
const attribute = v.strictObject({ 'Fn::GetAtt': v.tuple([v.string(), v.string()]) });
const join = v.strictObject({ 'Fn::Join': v.tuple([v.string(), v.array(v.unknown())]) });
const imported = v.strictObject({ 'Fn::ImportValue': v.string() });

/** The resources of both stacks by logical id, and what the stacks export to each other. */
class Templates {
  readonly #resources: readonly v.InferOutput<typeof resourceSchema>[];
  readonly #paths: ReadonlyMap<string, string>;
  readonly #exports: ReadonlyMap<unknown, unknown>;

  constructor(app: App, { data, pipeline }: Sluice) {
    const assembly = app.synth({ validateOnSynthesis: false });
    const templates = [data, pipeline].map(({ stackName }) =>
      v.parse(templateSchema, assembly.getStackByName(stackName).template),
    );
    // The function that empties buckets before they are deleted is the CDK's own.
    this.#resources = templates.flatMap(({ Resources }) =>
      Object.entries(Resources).flatMap(([id, resource]) =>
        id.startsWith('CustomS3AutoDeleteObjects') ? [] : [resource],
      ),
    );
    this.#paths = new Map([data, pipeline].flatMap(pathsOf));
    this.#exports = new Map(
      templates.flatMap(({ Outputs }) => Object.values(Outputs).map(({ Export, Value }) => [Export?.Name, Value])),
    );
  }

  /** What a reference points at, by construct path; joined texts are put behind it. */
  nameOf(value: unknown): string {
    if (typeof value === 'string') return value;
    if (v.is(imported, value)) return this.nameOf(this.#exports.get(value['Fn::ImportValue']));
    if (v.is(join, value)) return value['Fn::Join'][1].map((part) => this.nameOf(part)).join(value['Fn::Join'][0]);
    const id = v.is(ref, value) ? value.Ref : v.parse(attribute, value)['Fn::GetAtt'][0];
    return this.#paths.get(id) ?? id;
  }

  ofType<S extends v.GenericSchema>(type: string, schema: S): v.InferOutput<S>[] {
    return this.#resources
      .filter((resource) => resource.Type === type)
      .map((resource) => v.parse(schema, resource.Properties));
  }
}

/** Construct paths by logical id: without the stack, whose name differs, and the last part, which says nothing. */
const pathsOf = (stack: Sluice[keyof Sluice]): [string, string][] =>
  stack.node
    .findAll()
    .filter((construct) => CfnElement.isCfnElement(construct))
    .map((element) => [String(stack.resolve(element.logicalId)), element.node.path.split('/').slice(1, -1).join('/')]);

/** Every statement of every role, by function. Throws for a policy that belongs to no function. */
export function grantsOf(app: App, sluice: Sluice): Grant[] {
  const templates = new Templates(app, sluice);
  const functions = templates.ofType('AWS::Lambda::Function', functionSchema);
  const grants = templates.ofType('AWS::IAM::Policy', policySchema).flatMap(({ Roles, PolicyDocument }) => {
    const roles = Roles.map((role) => templates.nameOf(role));
    const owners = functions.filter(({ Role }) => roles.includes(templates.nameOf(Role)));
    const [owner] = owners;
    if (owner === undefined || owners.length > 1) throw new Error(`The policy of ${roles.join()} needs one function.`);
    const { POWERTOOLS_SERVICE_NAME: name, LANE: lane } = owner.Environment.Variables;
    return PolicyDocument.Statement.map(({ Sid, Action, Resource, Condition }) => ({
      holder: lane === undefined ? name : `${name} (${lane})`,
      sid: Sid,
      actions: Action.toSorted(),
      resources: (Array.isArray(Resource) ? Resource : [Resource]).map((resource) => templates.nameOf(resource)),
      items: itemsOf(Condition),
    }));
  });
  return grants.toSorted((a, b) => (`${a.holder} ${a.sid}` < `${b.holder} ${b.sid}` ? -1 : 1));
}

function itemsOf(condition: v.InferOutput<typeof leadingKeys | typeof keyPrefix> | undefined): readonly string[] {
  if (condition === undefined) return [];
  return 'StringLike' in condition
    ? condition.StringLike['s3:prefix']
    : condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'];
}

/** The grants as a table of Markdown, as prettier writes one. */
export const grantsTable = (grants: readonly Grant[]): string =>
  table(
    ['function', 'for', 'actions', 'resources'],
    grants.map(({ holder, sid, actions, resources, items }) => [
      holder,
      sid,
      code(actions),
      items.length === 0 ? code(resources) : `${code(resources)}, items ${code(items)}`,
    ]),
  );

/** Findings of the rules that are accepted, wildcards among them, each with its reason. */
export const acceptedTable = (sluice: Sluice): string =>
  table(
    ['rule', 'where', 'reason'],
    suppressions(sluice).map(({ id, paths, reason }) => [code([shortRule(id)]), places(paths), reason]),
  );

/** Without the export's name: `AwsSolutions-IAM5[…/uploads/*]`. */
const shortRule = (id: string): string => id.replace(/\[Resource::[^/]*/, '[…').replace(/\[Policy::.*\//, '[…/');

/** A few are named, many are counted. */
const places = (paths: readonly string[]): string =>
  paths.length > 5 ? `${paths.length} routes: \`${paths[0] ?? ''}\`, …` : code(paths);

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(' ');

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}
