import { availableParallelism } from 'node:os';
import { requireNode } from './scripts/require-node.mjs';

// Jest runs ES modules in a VM only behind this flag; with it set here, a plain `npx jest <path>` works everywhere.
await requireNode(['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']);

/** What Node.js 24 runs, so that only types are removed; modules stay as they are where the project runs them as such. */
const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    {
      swcrc: false,
      sourceMaps: 'inline',
      jsc: {
        parser: { syntax: 'typescript' },
        target: 'es2024',
        transform: { verbatimModuleSyntax: true },
        experimental: { keepImportAttributes: true },
      },
    },
  ],
};

const common = {
  transform,
  testEnvironment: 'node',
  restoreMocks: true,
  modulePathIgnorePatterns: ['<rootDir>/cdk.out/', '<rootDir>/dist/', '<rootDir>/.local/'],
};

const esm = { ...common, extensionsToTreatAsEsm: ['.ts'] };

/** @type {import('jest').Config} */
export default {
  // Waits end when their condition holds; this ends a test that hangs, on a busy machine too.
  testTimeout: 60_000,
  // Every integration test starts a local cloud of several processes; more at once than cores only makes them slower.
  maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
  projects: [
    {
      ...esm,
      displayName: 'runtime',
      testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/local/cloud/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '<rootDir>/test/infrastructure/',
        '<rootDir>/test/integration/',
        '<rootDir>/test/security/',
      ],
    },
    {
      ...esm,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/{integration,security}/**/*.test.ts'],
      setupFilesAfterEnv: ['<rootDir>/test/setup/integration.ts'],
    },
    {
      // CommonJS: constructs are tested without a module in a VM for each of the library's thousands of files.
      ...common,
      displayName: 'infrastructure',
      testMatch: ['<rootDir>/test/infrastructure/**/*.test.ts'],
      setupFiles: ['<rootDir>/test/setup/infrastructure.ts'],
    },
  ],
};
