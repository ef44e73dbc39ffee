import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as v from 'valibot';
import type { Stage } from '../../config/stage.ts';
import { addSluice, type Sluice } from '../../lib/sluice.ts';

const templateSchema = v.object({
  Resources: v.record(
    v.string(),
    v.object({
      Type: v.string(),
      Properties: v.optional(v.record(v.string(), v.unknown()), {}),
      DeletionPolicy: v.optional(v.string()),
      UpdateReplacePolicy: v.optional(v.string()),
    }),
  ),
  Outputs: v.optional(
    v.record(v.string(), v.object({ Value: v.unknown(), Export: v.optional(v.object({ Name: v.unknown() })) })),
    {},
  ),
});

/** A resource of a stage's templates; logical ids are unique over both of them. */
export interface Resource<P = Readonly<Record<string, unknown>>> {
  readonly id: string;
  readonly type: string;
  readonly stack: keyof Sluice;
  readonly properties: P;
  readonly deletionPolicy: string | undefined;
  readonly updateReplacePolicy: string | undefined;
}

/** The templates of a stage, for questions about all resources of a type. */
export interface Synthesized {
  readonly sluice: Sluice;
  readonly resources: readonly Resource[];
  /** The resources of a type with the properties that a test is interested in. */
  readonly ofType: <S extends v.GenericSchema>(type: string, properties: S) => Resource<v.InferOutput<S>>[];
  /** Logical id of the resource that a reference (`Ref`, an attribute, an import of either) points at. */
  readonly referenced: (value: unknown) => string;
}

const reference = v.union([
  v.pipe(
    v.strictObject({ Ref: v.string() }),
    v.transform((value) => value.Ref),
  ),
  v.pipe(
    v.strictObject({ 'Fn::GetAtt': v.tuple([v.string(), v.string()]) }),
    v.transform((value) => value['Fn::GetAtt'][0]),
  ),
]);
const imported = v.strictObject({ 'Fn::ImportValue': v.string() });

/** The function that empties buckets before they are deleted is the CDK's own, with its role. */
const isOurs = ([id]: [string, unknown]): boolean => !id.startsWith('CustomS3AutoDeleteObjects');

/** Synthesizes a stage without bundling: these tests are not about the functions' code. */
export function synthesize(stage: Stage): Synthesized {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const sluice = addSluice(app, stage);
  const parse = (stack: keyof Sluice) => v.parse(templateSchema, Template.fromStack(sluice[stack]).toJSON());
  const templates = { pipeline: parse('pipeline'), data: parse('data') };
  const resources = (['data', 'pipeline'] as const).flatMap((stack) =>
    Object.entries(templates[stack].Resources)
      .filter(isOurs)
      .map(([id, resource]) => ({
        id,
        stack,
        type: resource.Type,
        properties: resource.Properties,
        deletionPolicy: resource.DeletionPolicy,
        updateReplacePolicy: resource.UpdateReplacePolicy,
      })),
  );
  const exported = new Map(Object.values(templates.data.Outputs).map((output) => [output.Export?.Name, output.Value]));
  return {
    sluice,
    resources,
    ofType: (type, properties) =>
      resources
        .filter((resource) => resource.type === type)
        .map((resource) => ({ ...resource, properties: v.parse(properties, resource.properties) })),
    referenced: (value) => v.parse(reference, v.is(imported, value) ? exported.get(value['Fn::ImportValue']) : value),
  };
}
