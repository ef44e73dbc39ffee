/**
 * Makes sure the current process runs on the Node.js version that Lambda runs.
 *
 * This file must start on every Node.js that npm itself runs on, so it is plain JavaScript without recent syntax.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const REQUIRED_MAJOR = 24;
/** @type {NodeJS.Signals[]} */
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The binary of the `node` package, an optional dependency that an install script downloads. */
const PACKAGED_NODE = fileURLToPath(
  new URL(`../node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`, import.meta.url),
);

/**
 * Returns when this process runs on Node.js 24 or later with all of `flags`. Otherwise it runs the same command line
 * again in a process that does, and never returns: this process ends the way the other one ends.
 *
 * Without a suitable Node.js it writes one sentence to standard error and exits with 1.
 *
 * @param {readonly string[]} [flags] Node.js options the process must have been started with.
 * @returns {Promise<void>}
 */
export function requireNode(flags = []) {
  const recentEnough = Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR;
  if (recentEnough && flags.every((flag) => process.execArgv.includes(flag))) return Promise.resolve();
  if (recentEnough) return runAgainWith(process.execPath, flags);
  if (!existsSync(PACKAGED_NODE)) return refuse('the copy in node_modules is not installed');
  if (process.execPath === PACKAGED_NODE) return refuse('comes from node_modules, which is out of date');
  return runAgainWith(PACKAGED_NODE, flags);
}

/**
 * @param {string} node
 * @param {readonly string[]} flags
 * @returns {Promise<never>}
 */
function runAgainWith(node, flags) {
  const added = flags.filter((flag) => !process.execArgv.includes(flag));
  const child = spawn(node, [...process.execArgv, ...added, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of FORWARDED_SIGNALS) {
    // On a terminal Ctrl-C reaches the whole process group; sending it on would deliver it twice.
    process.on(signal, () => void (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
  }
  // npm starts a shell in between, which does not pass signals on. When that shell is gone, this process must end.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent || process.env['npm_lifecycle_event'] === undefined) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 1000);
  return new Promise(() => {
    child.on('error', (error) => void refuse(`${node} cannot be started (${error.message})`));
    child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 + constants.signals[signal] : 1)));
  });
}

/**
 * @param {string} reason
 * @returns {never}
 */
function refuse(reason) {
  console.error(
    `Sluice needs Node.js ${REQUIRED_MAJOR} or later, but this is ${process.version} and ${reason}: ` +
      `run \`npm ci --include=optional --ignore-scripts=false\`, or put Node.js ${REQUIRED_MAJOR} on your PATH.`,
  );
  process.exit(1);
}
