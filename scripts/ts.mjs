/**
 * Runs a TypeScript file: `node scripts/ts.mjs local/demo.ts --json`.
 *
 * Node.js 24 strips the types itself; this launcher finds a Node.js that can, whichever one the shell has.
 */
import Module from 'node:module';
import { resolve } from 'node:path';
import { requireNode } from './require-node.mjs';

const file = process.argv[2];
if (file === undefined) {
  console.error('Name the TypeScript file to run: node scripts/ts.mjs <file.ts> [arguments]');
  process.exit(1);
}

await requireNode();

// Node.js before 24.12 announces type stripping as experimental on every start; that says nothing about Sluice.
const emitWarning = process.emitWarning.bind(process);
process.emitWarning = (/** @type {unknown[]} */ ...args) => {
  if (!String(args[0]).includes('Type Stripping')) Reflect.apply(emitWarning, undefined, args);
};

// Stripped and compiled once per machine, not at every start: halves the processor time of a start.
Module.enableCompileCache();

// As if the file had been started directly: `process.argv` and `import.meta.main` are what it expects.
process.argv.splice(1, 2, resolve(file));
Module.runMain();
