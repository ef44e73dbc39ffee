import * as v from 'valibot';
import { InvalidDataError } from '../domain/errors.ts';

/** The variables that a function reads: a valibot object whose values start as text, as those of every environment do. */
export type EnvironmentSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

/** Names of the variables of a schema; a construct that sets them is checked against exactly these. */
export type VariableName<S extends EnvironmentSchema> = Extract<keyof S['entries'], string>;

/** Values for every variable of a schema, as the construct hands them to the function. */
export type EnvironmentValues<S extends EnvironmentSchema> = Record<VariableName<S>, string>;

export type EnvironmentSource = Readonly<Record<string, string | undefined>>;

/**
 * Reads the variables of `schema` from `source`. Variables that the schema does not name are ignored: the runtime sets many.
 *
 * @throws InvalidDataError that lists every missing or malformed variable with its value and the remedy.
 */
export function readEnvironment<S extends EnvironmentSchema>(
  functionName: string,
  schema: S,
  source: EnvironmentSource,
): v.InferOutput<S> {
  const parsed = v.safeParse(schema, source);
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => {
    const name = String(issue.path?.[0]?.key);
    const value = source[name];
    return value === undefined ? `${name} is missing` : `${name} is ${JSON.stringify(value)}: ${issue.message}`;
  });
  throw new InvalidDataError(
    `The environment of the ${functionName} function is not usable: ${[...new Set(problems)].join('; ')}. ` +
      `lambdas/${functionName}/env.ts declares its variables and the construct of the function in lib/constructs sets them: ` +
      'correct the value there (most come from config/stages) and deploy again.',
  );
}
