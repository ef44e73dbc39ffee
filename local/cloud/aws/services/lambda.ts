import type { DeployedResource, FunctionInvoker, InvokeRequest, InvokeResult } from '../../contract.ts';
import { FUNCTION_URLS } from '../../templates/types/model.ts';
import { ANONYMOUS } from '../authorization/principals.ts';
import type { Call } from '../front/call.ts';
import { AwsError, jsonReply, type Reply } from '../front/errors.ts';
import type { Gate } from '../front/gate.ts';
import type { Service } from '../front/service.ts';
import { urlAnswerOf, urlEvent } from './function-url.ts';

const CONTENT_TYPE = 'application/json';
const PATH = /^\/2015-03-31\/functions(?:\/([^/]+)(?:\/(invocations|configuration))?)?\/?$/;

/** Lambda: runs functions through the invoker that is attached, and describes them. */
export class LambdaService implements Service {
  readonly name = 'lambda';
  readonly buffersBody = true;
  readonly #gate: Gate;
  readonly #functions: readonly DeployedResource[];
  #invoker: FunctionInvoker | undefined;

  constructor(gate: Gate, functions: readonly DeployedResource[]) {
    this.#gate = gate;
    this.#functions = functions;
  }

  attach(invoker: FunctionInvoker): void {
    this.#invoker = invoker;
  }

  async handle(call: Call): Promise<Reply> {
    if (call.claim === undefined && call.path.startsWith(FUNCTION_URLS)) return this.#answerUrl(call);
    const [matched, encodedName, member] = PATH.exec(call.path) ?? [];
    if (matched === undefined) throw unsupported(call);
    if (encodedName === undefined) return this.#list(call);
    const name = decodeURIComponent(encodedName);
    if (call.method === 'POST' && member === 'invocations') return this.#invoke(call, name);
    if (call.method === 'GET' && member !== 'invocations') return this.#describe(call, name, member);
    throw unsupported(call);
  }

  async #list(call: Call): Promise<Reply> {
    call.operation = 'ListFunctions';
    await this.#gate.pass(call, [{ action: 'lambda:ListFunctions', resource: '*' }]);
    return jsonReply({ Functions: this.#functions.map(configuration) }, CONTENT_TYPE);
  }

  async #describe(call: Call, name: string, member: string | undefined): Promise<Reply> {
    call.operation = member === undefined ? 'GetFunction' : 'GetFunctionConfiguration';
    const found = this.#find(call, name);
    await this.#gate.pass(call, [{ action: `lambda:${call.operation}`, resource: found.arn }]);
    const described = configuration(found);
    return jsonReply(member === undefined ? { Configuration: described, Code: {} } : described, CONTENT_TYPE);
  }

  async #invoke(call: Call, name: string): Promise<Reply> {
    call.operation = 'Invoke';
    const found = this.#find(call, name);
    await this.#gate.pass(call, [{ action: 'lambda:InvokeFunction', resource: found.arn }]);
    const result = await this.#run(call, {
      functionName: found.physicalId,
      payload: call.body.length === 0 ? '{}' : call.body.toString(),
      invocationType: invocationType(call),
      logType: call.header('x-amz-log-type') === 'Tail' ? 'Tail' : 'None',
    });
    return {
      status: result.statusCode,
      headers: {
        'content-type': CONTENT_TYPE,
        'x-amz-executed-version': '$LATEST',
        ...(result.functionError === undefined ? {} : { 'x-amz-function-error': result.functionError }),
        ...(result.logResult === undefined ? {} : { 'x-amz-log-result': result.logResult }),
      },
      body: result.payload,
    };
  }

  /** The URL of a function, which anybody may call whom its policy lets. */
  async #answerUrl(call: Call): Promise<Reply> {
    call.operation = 'InvokeFunctionUrl';
    const [name = ''] = call.path.slice(FUNCTION_URLS.length).split('/');
    const found = this.#find(call, decodeURIComponent(name));
    call.principal = ANONYMOUS;
    const context = { 'lambda:FunctionUrlAuthType': 'NONE' };
    const viaUrl = { 'lambda:InvokedViaFunctionUrl': 'true' };
    await this.#gate.pass(call, [
      { action: 'lambda:InvokeFunctionUrl', resource: found.arn, context },
      { action: 'lambda:InvokeFunction', resource: found.arn, context: viaUrl },
    ]);
    const payload = JSON.stringify(urlEvent(call, `${FUNCTION_URLS}${name}`));
    return urlAnswerOf(
      await this.#run(call, {
        functionName: found.physicalId,
        payload,
        invocationType: 'RequestResponse',
        logType: 'None',
      }),
    );
  }

  async #run(call: Call, request: Omit<InvokeRequest, 'principal'>): Promise<InvokeResult> {
    if (this.#invoker === undefined) {
      throw new AwsError(
        503,
        'ServiceException',
        'No function runs in this local cloud: nothing was attached to run them.',
      );
    }
    const result = await this.#invoker.invoke({ ...request, principal: call.principal?.arn ?? '' });
    if (result.statusCode === 429) throw new AwsError(429, 'TooManyRequestsException', 'Rate Exceeded.');
    return result;
  }

  /** A function by its name, its ARN or the parts of it that Lambda takes, with or without a version. */
  #find(call: Call, nameOrArn: string): DeployedResource {
    const name = nameOrArn.replace(/^(?:arn:aws:lambda:[^:]*:)?(?:\d{12}:)?(?:function:)?/, '').split(':')[0];
    call.target = name;
    const found = this.#functions.find(({ physicalId }) => physicalId === name);
    if (found !== undefined) return found;
    throw new AwsError(404, 'ResourceNotFoundException', `Function not found: ${nameOrArn}`);
  }
}

function invocationType(call: Call): InvokeRequest['invocationType'] {
  const type = call.header('x-amz-invocation-type') ?? 'RequestResponse';
  if (type === 'RequestResponse' || type === 'Event' || type === 'DryRun') return type;
  throw new AwsError(400, 'InvalidParameterValueException', `The invocation type ${type} does not exist.`);
}

function configuration({ physicalId, arn, properties }: DeployedResource): unknown {
  const { Architectures, Description, Environment, Handler, MemorySize, Role, Runtime, Timeout } = properties;
  return {
    FunctionName: physicalId,
    FunctionArn: arn,
    Architectures: Architectures ?? ['x86_64'],
    Description: Description ?? '',
    Environment: Environment ?? {},
    Handler,
    MemorySize: MemorySize ?? 128,
    Role,
    Runtime,
    State: 'Active',
    Timeout: Timeout ?? 3,
    Version: '$LATEST',
  };
}

function unsupported(call: Call): AwsError {
  const message = `The local cloud does not support ${call.method} ${call.path} of Lambda.`;
  return new AwsError(404, 'ResourceNotFoundException', message);
}
