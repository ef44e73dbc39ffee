/** One call of a port, as it is about to happen. */
export interface PortCall {
  /** Name in the world, for example `submissions` or `queues.small`. */
  port: string;
  method: string;
  args: readonly unknown[];
}

/**
 * Stands around every call of a port. It may wait, throw instead of calling `apply` (refused), throw after it (applied, but
 * the reply was lost), call it with other arguments (part of a batch), or never return (the caller crashed).
 */
export type PortHook = (call: PortCall, apply: (args?: readonly unknown[]) => Promise<unknown>) => Promise<unknown>;

/** Lets everything through. */
export const noHook: PortHook = async (_call, apply) => apply();

/**
 * The same port with `hook` around every method but the `synchronous` ones.
 * A method's result is what the hook resolves to, so a hook that changes it must keep its type.
 */
export function intercept<T extends object>(
  port: string,
  target: T,
  hook: PortHook,
  synchronous: readonly (keyof T)[] = [],
): T {
  const plain = new Set<unknown>(synchronous);
  return new Proxy(target, {
    get(object, property, receiver) {
      const member: unknown = Reflect.get(object, property, receiver);
      if (typeof member !== 'function' || typeof property !== 'string' || plain.has(property)) return member;
      return async (...args: unknown[]): Promise<unknown> =>
        hook({ port, method: property, args }, async (replaced = args): Promise<unknown> =>
          Reflect.apply(member, object, replaced),
        );
    },
  });
}
