#!/usr/bin/env node
/** `npx sluice …`: the customer's command, on a Node.js that runs TypeScript. */
import { fileURLToPath } from 'node:url';

/** @param {string} file */
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
// As if ts.mjs had been started with the command: it may start itself again with another Node.js.
process.argv.splice(1, 1, here('ts.mjs'), here('../cli/sluice/main.ts'));
await import('./ts.mjs');
