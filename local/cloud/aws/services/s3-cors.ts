import * as v from 'valibot';
import type { DeployedResource } from '../../contract.ts';
import { LocalCloudError } from '../../errors.ts';

const texts = v.optional(v.array(v.string()), []);

const corsSchema = v.object({
  CorsRules: v.array(
    v.object({
      AllowedHeaders: texts,
      AllowedMethods: v.array(v.string()),
      AllowedOrigins: v.array(v.string()),
      ExposedHeaders: texts,
      MaxAge: v.optional(v.union([v.number(), v.string()])),
    }),
  ),
});

export type CorsRule = v.InferOutput<typeof corsSchema>['CorsRules'][number];

/** @throws LocalCloudError when the bucket's CORS configuration is not one */
export function corsRulesOf(bucket: DeployedResource): CorsRule[] {
  const configuration = bucket.properties['CorsConfiguration'];
  if (configuration === undefined) return [];
  const parsed = v.safeParse(corsSchema, configuration);
  if (parsed.success) return parsed.output.CorsRules;
  throw new LocalCloudError(
    `${bucket.stack}/${bucket.logicalId}: CorsConfiguration is not understood: ${parsed.issues[0].message}.`,
  );
}

/**
 * Headers that let a browser's script see an answer, or make a request; undefined when no rule allows it.
 *
 * @param requestHeaders of a preflight's `Access-Control-Request-Headers`
 */
export function corsHeaders(
  rules: readonly CorsRule[],
  origin: string,
  method: string,
  requestHeaders: readonly string[] = [],
): Record<string, string> | undefined {
  for (const rule of rules) {
    const allowedOrigin = rule.AllowedOrigins.find((pattern) => matches(pattern, origin));
    const allowsHeaders = requestHeaders.every((header) =>
      rule.AllowedHeaders.some((pattern) => matches(pattern.toLowerCase(), header)),
    );
    if (allowedOrigin === undefined || !rule.AllowedMethods.includes(method) || !allowsHeaders) continue;
    return {
      'access-control-allow-origin': allowedOrigin === '*' ? '*' : origin,
      'access-control-allow-methods': rule.AllowedMethods.join(', '),
      ...(allowedOrigin === '*' ? {} : { 'access-control-allow-credentials': 'true' }),
      ...(requestHeaders.length === 0 ? {} : { 'access-control-allow-headers': requestHeaders.join(', ') }),
      ...(rule.ExposedHeaders.length === 0 ? {} : { 'access-control-expose-headers': rule.ExposedHeaders.join(', ') }),
      ...(rule.MaxAge === undefined ? {} : { 'access-control-max-age': String(rule.MaxAge) }),
      vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
    };
  }
  return undefined;
}

/** A pattern of a rule may hold one asterisk. */
function matches(pattern: string, value: string): boolean {
  const [start, end] = pattern.split('*', 2);
  if (start === undefined || end === undefined) return pattern === value;
  return value.length >= start.length + end.length && value.startsWith(start) && value.endsWith(end);
}
