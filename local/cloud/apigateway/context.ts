/** What `$context` means in access log formats and response templates, and what the function gets as `requestContext`. */
export interface GatewayContext {
  readonly accountId: string;
  readonly apiId: string;
  readonly deploymentId: string;
  readonly domainName: string;
  readonly domainPrefix: string;
  readonly extendedRequestId: string;
  readonly httpMethod: string;
  readonly identity: { readonly sourceIp: string; readonly userAgent: string | null };
  /** With the stage. */
  readonly path: string;
  readonly protocol: string;
  readonly requestId: string;
  readonly requestTime: string;
  readonly requestTimeEpoch: number;
  readonly stage: string;
  resourceId?: string;
  resourcePath?: string;
  authorizer?: Record<string, string | number>;
  error?: { message: string; messageString: string; responseType: string };
  status?: number;
  responseLatency?: number;
  responseLength?: number;
  integrationLatency?: number;
  integration?: { requestId?: string; status?: number; latency?: number };
  requestHeader(name: string): string | undefined;
}

/** Replaces every `$context.…` by its value; `missing` where there is none. */
export function render(template: string, context: GatewayContext, missing: string): string {
  return template.replaceAll(/\$context\.([\w.]+)/g, (_, path: string) => {
    let value: unknown = context;
    for (const key of path.split('.')) {
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    }
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : missing;
  });
}

/** `09/Apr/2025:12:34:56 +0000`, as Apache's common log format has it. */
export function commonLogTime(date: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(date.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}
