import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import type { CredentialSource } from '../../../lambdas/domain/providers/ports.ts';

export interface MemoryCredentials extends CredentialSource {
  /** Changes the secret; what is cached stays until the next refresh. */
  rotate(provider: string, value: string): void;
}

export function createMemoryCredentials(initial: Readonly<Record<string, string>> = {}): MemoryCredentials {
  const secret = new Map(Object.entries(initial));
  const cached = new Map(secret);
  return {
    async get(provider) {
      const value = cached.get(provider) ?? secret.get(provider);
      if (value === undefined) throw new DependencyUnavailableError(`The secret has no credential for ${provider}.`);
      cached.set(provider, value);
      return value;
    },
    async refresh(provider, refused) {
      const value = secret.get(provider);
      if (value === undefined) return false;
      cached.set(provider, value);
      return value !== refused;
    },
    rotate(provider, value) {
      secret.set(provider, value);
    },
  };
}
