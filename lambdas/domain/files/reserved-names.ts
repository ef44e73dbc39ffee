const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Names that reach an object's prototype when code further on assigns or merges them. No column or key may have one. */
export const isReservedName = (name: string): boolean => RESERVED.has(name);
