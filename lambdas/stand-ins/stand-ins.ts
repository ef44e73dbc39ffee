import type { ProviderConfig } from '../domain/providers/config.ts';
import { answerOf, faultOfKey } from './answers.ts';
import { lookupOf } from './derived.ts';

/** A call of a provider: `path` begins with the provider's name. */
export interface ProviderCall {
  path: string;
  query: string;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

interface Answer {
  status: number;
  body: unknown;
}

const TOKEN_SECONDS = 3_600;

/**
 * Answers as the provider in question would. Callers are known by the credential, wherever the provider's configuration puts it: in a
 * header or in the query, also encoded by the Basic scheme. A token endpoint gives it out as the token.
 */
export function answerCall(
  providers: readonly ProviderConfig[],
  { path, query, headers, body }: ProviderCall,
  credential: string,
): Answer {
  const [, name = '', ...rest] = path.split('/');
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider === undefined) return failure(404, 'no_such_path', 'No provider has this name.');
  const { auth } = provider;
  const below = `/${rest.join('/')}`;
  if (!('none' in auth) && !carries([...Object.values(headers), query, body], credential)) {
    return failure(401, 'unauthorized', 'The credential is missing or not valid.');
  }
  if ('oauth2' in auth && below === auth.oauth2.tokenUrl) {
    return { status: 200, body: { access_token: credential, token_type: 'Bearer', expires_in: TOKEN_SECONDS } };
  }
  const parts = lookupOf(provider, { path: below, query, body });
  if (parts === undefined) return failure(404, 'no_such_path', 'There is nothing at this path.');
  const fault = faultOfKey(parts.join('/'));
  if (fault === undefined) return answerOf(name, provider, parts);
  // A function cannot cut a connection or keep silent for nothing: it is unavailable in one way.
  return failure(fault.status ?? 503, 'unavailable', 'The provider does not answer for this key.');
}

const carries = (texts: readonly (string | undefined)[], credential: string): boolean =>
  texts.some((text = '') => {
    const encoded = /^Basic (.+)$/.exec(text)?.[1] ?? '';
    return [text, decodeURIComponent(Buffer.from(encoded, 'base64').toString('utf8'))].some((each) =>
      each.includes(credential),
    );
  });

const failure = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
});
