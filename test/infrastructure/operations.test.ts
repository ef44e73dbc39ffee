import { ROUTES } from '../../lib/constructs/api.ts';
import { OPERATIONS, type Operation } from '../../lambdas/domain/api/operations.ts';

it('routes are the operations of the API, to the functions that answer them', () => {
  const operations = Object.values<Operation>(OPERATIONS).map(({ method, path, handledBy, scope }) => ({
    method,
    path,
    handler: handledBy,
    open: scope === undefined,
  }));
  const routes = ROUTES.map(({ open = false, ...route }) => ({ ...route, open }));
  const byCall = (list: readonly { method: string; path: string }[]) =>
    Object.fromEntries(list.map((entry) => [`${entry.method} ${entry.path}`, entry]));
  expect(byCall(routes)).toEqual(byCall(operations));
  expect(routes).toHaveLength(operations.length);
});
