import * as v from 'valibot';
import type { Json } from '../../contract.ts';
import { LocalCloudError } from '../../errors.ts';

const texts = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => [value].flat()),
);

const statementSchema = v.looseObject({
  Sid: v.optional(v.string()),
  Effect: v.picklist(['Allow', 'Deny']),
  Action: v.optional(texts),
  NotAction: v.optional(texts),
  Resource: v.optional(texts),
  NotResource: v.optional(texts),
  Condition: v.optional(v.record(v.string(), v.record(v.string(), v.unknown()))),
});

const documentSchema = v.object({
  Version: v.optional(v.string(), '2012-10-17'),
  Id: v.optional(v.string()),
  Statement: v.pipe(
    v.union([statementSchema, v.array(statementSchema)]),
    v.transform((value) => [value].flat()),
  ),
});

export type PolicyDocument = v.InferOutput<typeof documentSchema>;

/** @throws LocalCloudError when the value is not a policy document */
export function parsePolicy(document: Json | undefined, place: string): PolicyDocument {
  const parsed = v.safeParse(documentSchema, document);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new LocalCloudError(`${place} holds no policy document: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}.`);
}

/** Condition keys that a document's statements mention, in lower case. */
export function conditionKeysOf(document: PolicyDocument): string[] {
  return document.Statement.flatMap((statement) => Object.values(statement.Condition ?? {}))
    .flatMap((keys) => Object.keys(keys))
    .map((key) => key.toLowerCase());
}
