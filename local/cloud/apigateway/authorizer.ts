import * as v from 'valibot';
import type { InvokeResult } from '../contract.ts';
import type { AuthorizerDefinition } from './authorizer-definition.ts';
import { GatewayError } from './gateway-responses.ts';
import { authorizerAnswer, evaluate, type AuthorizerAnswer } from './policy.ts';

const MAX_CACHED = 10_000;

export interface AuthorizerCall {
  readonly definition: AuthorizerDefinition;
  readonly methodArn: string;
  header(name: string): string | undefined;
  /** The proxy event of the request, for authorizers of type `REQUEST`. */
  event(): object;
}

/** Invokes a function on the gateway's behalf; refuses when the function does not let it. */
export type InvokeForGateway = (functionArn: string, sourceArn: string, payload: string) => Promise<InvokeResult>;

const thrownSchema = v.object({ errorMessage: v.optional(v.string()) });

/** Asks authorizer functions, and keeps their answers for as long as the API says. */
export class AuthorizerCache {
  readonly #invoke: InvokeForGateway;
  readonly #sourceArn: (authorizerId: string) => string;
  readonly #cached = new Map<string, { answer: AuthorizerAnswer; untilMs: number }>();

  constructor(invoke: InvokeForGateway, sourceArn: (authorizerId: string) => string) {
    this.#invoke = invoke;
    this.#sourceArn = sourceArn;
  }

  /**
   * Decides about a request.
   *
   * @returns what the function gets as `requestContext.authorizer`
   * @throws GatewayError when the caller is not let in
   */
  async authorize(call: AuthorizerCall): Promise<Record<string, string>> {
    const { definition, methodArn } = call;
    const identity = definition.identityHeaders.map((name) => call.header(name));
    // Who brings nothing to be known by is refused without asking; with nothing to ask for, nothing is cached.
    if (identity.some((value) => value === undefined || value === '')) throw new GatewayError('UNAUTHORIZED');
    const [token = ''] = identity;
    if (definition.validation !== undefined && !definition.validation.test(token))
      throw new GatewayError('UNAUTHORIZED');

    const answer = await this.#answer(call, JSON.stringify([definition.id, ...identity]), token);
    const decision = evaluate(answer.policyDocument, methodArn);
    if (decision === 'denied') {
      throw new GatewayError('ACCESS_DENIED', 'User is not authorized to access this resource with an explicit deny');
    }
    if (decision === 'not_allowed') throw new GatewayError('ACCESS_DENIED');
    const context = Object.entries(answer.context ?? {}).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return { principalId: answer.principalId, ...Object.fromEntries(context) };
  }

  async #answer(call: AuthorizerCall, key: string, token: string): Promise<AuthorizerAnswer> {
    const { definition } = call;
    const nowMs = performance.now();
    const cached = this.#cached.get(key);
    if (cached !== undefined && cached.untilMs > nowMs) return cached.answer;
    const event =
      definition.type === 'TOKEN'
        ? { type: 'TOKEN', authorizationToken: token, methodArn: call.methodArn }
        : { ...call.event(), type: 'REQUEST', methodArn: call.methodArn };
    const result = await this.#invoke(definition.functionArn, this.#sourceArn(definition.id), JSON.stringify(event));
    const answer = parseAnswer(result);
    if (definition.cacheMs > 0 && definition.identityHeaders.length > 0) {
      this.#makeRoom(nowMs);
      this.#cached.set(key, { answer, untilMs: nowMs + definition.cacheMs });
    }
    return answer;
  }

  #makeRoom(nowMs: number): void {
    if (this.#cached.size < MAX_CACHED) return;
    for (const [key, { untilMs }] of this.#cached) if (untilMs <= nowMs) this.#cached.delete(key);
    for (const key of this.#cached.keys()) {
      if (this.#cached.size < MAX_CACHED) break;
      this.#cached.delete(key);
    }
  }
}

function parseAnswer(result: InvokeResult): AuthorizerAnswer {
  if (result.statusCode !== 200) throw new GatewayError('AUTHORIZER_FAILURE');
  if (result.functionError !== undefined) {
    const thrown = v.safeParse(v.pipe(v.string(), v.parseJson(), thrownSchema), result.payload);
    // The one message by which a function refuses a token.
    const refused = thrown.success && thrown.output.errorMessage === 'Unauthorized';
    throw new GatewayError(refused ? 'UNAUTHORIZED' : 'AUTHORIZER_FAILURE');
  }
  const answer = v.safeParse(v.pipe(v.string(), v.parseJson(), authorizerAnswer), result.payload);
  if (!answer.success) throw new GatewayError('AUTHORIZER_CONFIGURATION_ERROR');
  return answer.output;
}
