import * as v from 'valibot';
import type { DeployedResource } from './contract.ts';
import { LocalCloudError } from './errors.ts';

/** A number, which templates may also give as text. */
export const numeric = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.number());

/**
 * Parses a resource's properties.
 *
 * @throws LocalCloudError naming the resource, the property, and what is not supported about it
 */
export function readProperties<S extends v.GenericSchema>(schema: S, resource: DeployedResource): v.InferOutput<S> {
  const parsed = v.safeParse(schema, resource.properties);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  return refuse(resource, `${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
}

/** @throws LocalCloudError naming the resource */
export function refuse({ path, type }: DeployedResource, what: string): never {
  throw new LocalCloudError(`${path} (${type}): ${what}.`);
}
