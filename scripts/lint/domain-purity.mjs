/**
 * A plugin for oxlint with one rule: `new Date()` and `Date()` read the machine's clock, `new Date(ms)` only converts.
 *
 * The other ambient inputs of the domain (`Date.now`, `Math.random`, timers, the console) are plain names, which the
 * linter's own rules forbid.
 */

/** @typedef {{ callee: { type: string, name?: string }, arguments: unknown[] }} Call */
/** @typedef {{ report(problem: { node: Call, messageId: string }): void }} Context */

const noAmbientDate = {
  meta: {
    type: 'problem',
    docs: { description: 'Domain code takes the time from its Clock.' },
    messages: { ambient: 'This reads the clock of the machine: take a Clock as a parameter and convert what it says.' },
  },
  /** @param {Context} context */
  create(context) {
    return {
      /** @param {Call} node */
      NewExpression(node) {
        if (callsDate(node) && node.arguments.length === 0) context.report({ node, messageId: 'ambient' });
      },
      /** @param {Call} node */
      CallExpression(node) {
        if (callsDate(node)) context.report({ node, messageId: 'ambient' });
      },
    };
  },
};

/** @param {Call} node */
function callsDate(node) {
  return node.callee.type === 'Identifier' && node.callee.name === 'Date';
}

export default { meta: { name: 'sluice' }, rules: { 'no-ambient-date': noAmbientDate } };
