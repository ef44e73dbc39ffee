import { faultOfKey, STAND_INS, type KeyAnswer } from './answers.ts';

/** A call of a provider: `path` begins with the provider's name. */
export interface ProviderCall {
  path: string;
  query: string;
  headers: Readonly<Record<string, string | undefined>>;
}

/**
 * Answers as the provider in question would. Callers are known by the credential, wherever the provider's configuration puts it: in a
 * header or in the query.
 */
export function answerCall({ path, query, headers }: ProviderCall, credential: string): KeyAnswer {
  const [, name = '', ...rest] = path.split('/');
  const standIn = STAND_INS.find((candidate) => candidate.name === name);
  if (standIn === undefined) return failure(404, 'no_such_path', 'No provider has this name.');
  if (!carries([...Object.values(headers), query], credential)) {
    return failure(401, 'unauthorized', 'The credential is missing or not valid.');
  }
  const parts = standIn.route
    .exec(`/${rest.join('/')}`)
    ?.slice(1)
    .map(decode);
  if (parts === undefined) return failure(404, 'no_such_path', 'There is nothing at this path.');
  const fault = faultOfKey(parts.join('/'));
  if (fault === undefined) return standIn.answer(parts);
  // A function cannot cut a connection or keep silent for nothing: it is unavailable in one way.
  return failure(fault.status ?? 503, 'unavailable', 'The provider does not answer for this key.');
}

const carries = (texts: readonly (string | undefined)[], credential: string): boolean =>
  texts.some((text) => text?.includes(credential) === true);

const failure = (status: number, code: string, message: string): KeyAnswer => ({
  status,
  body: { error: { code, message } },
});

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not percent-encoding at all: the provider looks for the text as it came.
    return part;
  }
}
