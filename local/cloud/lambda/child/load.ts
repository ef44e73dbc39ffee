import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RuntimeError } from './protocol.ts';

export type Handler = (event: unknown, context: object) => unknown;

/** An error that the runtime itself reports, under the runtime's own type. */
class InitError extends Error {
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/**
 * Imports a handler.
 *
 * @param taskRoot directory of the bundle
 * @param handler as in the template: `index.handler`
 * @throws InitError when there is no such module or export; whatever the module throws while it is imported
 */
export async function loadHandler(taskRoot: string, handler: string): Promise<Handler> {
  const dot = handler.lastIndexOf('.');
  const [module, name] = [handler.slice(0, dot), handler.slice(dot + 1)];
  const file = ['.mjs', '.js', '.cjs'].map((extension) => join(taskRoot, module + extension)).find(existsSync);
  if (dot < 1 || file === undefined) {
    throw new InitError('Runtime.ImportModuleError', `Error: Cannot find module '${module}' in ${taskRoot}`);
  }
  const loaded: unknown = await import(pathToFileURL(file).href);
  const found = exportOf(loaded, name);
  if (found === undefined) throw new InitError('Runtime.HandlerNotFound', `${handler} is undefined or not exported`);
  return (event, context) => Reflect.apply(found, undefined, [event, context]);
}

function exportOf(module: unknown, name: string): ((...parameters: unknown[]) => unknown) | undefined {
  if (typeof module !== 'object' || module === null) return undefined;
  const direct: unknown = Reflect.get(module, name);
  if (isFunction(direct)) return direct;
  // CommonJS bundles show their exports under `default` where Node.js could not see their names.
  const common: unknown = Reflect.get(module, 'default');
  const nested: unknown = typeof common === 'object' && common !== null ? Reflect.get(common, name) : undefined;
  return isFunction(nested) ? nested : undefined;
}

const isFunction = (value: unknown): value is (...parameters: unknown[]) => unknown => typeof value === 'function';

/** What the answer's payload says about something that was thrown. */
export function describeError(thrown: unknown): RuntimeError {
  if (!(thrown instanceof Error)) {
    return {
      errorType: typeof thrown,
      errorMessage: typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? ''),
      trace: [],
    };
  }
  const errorType = thrown instanceof InitError ? thrown.errorType : thrown.name;
  return { errorType, errorMessage: thrown.message, trace: (thrown.stack ?? '').split('\n') };
}
