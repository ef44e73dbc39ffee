import type { Route } from './definition.ts';

export interface Match {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>> | null;
}

interface Candidate {
  readonly route: Route;
  readonly segments: readonly string[];
}

/** Finds the method for a request. Fixed segments win over `{name}`, that over `{name+}`, and a method over `ANY`. */
export class Router {
  readonly #candidates: readonly Candidate[];

  constructor(routes: readonly Route[]) {
    this.#candidates = routes
      .map((route) => ({ route, segments: segmentsOf(route.resourcePath) }))
      .sort((a, b) => specificity(b).localeCompare(specificity(a)));
  }

  /**
   * @param path without the stage; a slash at its end does not matter
   * @throws URIError when the path is not percent-encoded properly
   */
  match(method: string, path: string): Match | undefined {
    const segments = segmentsOf(path);
    for (const { route, segments: pattern } of this.#candidates) {
      if (route.method !== method && route.method !== 'ANY') continue;
      const parameters = bind(pattern, segments);
      if (parameters === undefined) continue;
      return { route, pathParameters: Object.keys(parameters).length === 0 ? null : parameters };
    }
    return undefined;
  }
}

const segmentsOf = (path: string): string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/');

/** Sorts fixed segments before parameters, these before those that take the rest, and `ANY` behind other methods. */
const specificity = ({ route, segments }: Candidate): string =>
  segments.map((segment) => (segment.endsWith('+}') ? '0' : segment.startsWith('{') ? '1' : '2')).join('') +
  (route.method === 'ANY' ? '0' : '1');

function bind(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index];
    if (segment === undefined) return undefined;
    const greedy = /^\{(.+)\+\}$/.exec(expected)?.[1];
    if (greedy !== undefined) {
      parameters[greedy] = decodeURIComponent(segments.slice(index).join('/'));
      return parameters;
    }
    const name = /^\{(.+)\}$/.exec(expected)?.[1];
    if (name !== undefined && segment !== '') parameters[name] = decodeURIComponent(segment);
    else if (segment !== expected) return undefined;
  }
  return segments.length === pattern.length ? parameters : undefined;
}
