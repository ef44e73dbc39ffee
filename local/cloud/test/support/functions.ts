import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthorizationRequest, DeployedResource, JsonObject } from '../../contract.ts';
import { LocalFunctions, type FunctionsOptions } from '../../lambda/functions.ts';

const ACCOUNT = '123456789012';
export const functionArn = (name: string): string => `arn:aws:lambda:us-east-1:${ACCOUNT}:function:${name}`;

export interface TestFunction {
  /** Source of `index.mjs`; exports `handler`. */
  readonly code: string;
  readonly properties?: JsonObject;
}

/** A resource as the templates would give it. */
export function resource(type: string, logicalId: string, change: Partial<DeployedResource> = {}): DeployedResource {
  return {
    stack: 'Test',
    logicalId,
    type,
    path: `Test/${logicalId}`,
    physicalId: logicalId,
    arn: '',
    properties: {},
    attributes: {},
    ...change,
  };
}

type FunctionsCloud = FunctionsOptions['cloud'];

/** The part of a cloud that functions need, from resources written by hand. */
function cloudOf(
  resources: readonly DeployedResource[],
  allows: (question: AuthorizationRequest) => boolean = () => true,
): FunctionsCloud {
  return {
    accountId: ACCOUNT,
    authorize: async (question) => ({ allowed: allows(question), message: '' }),
    awsEndpoint: 'http://127.0.0.1:9',
    region: 'us-east-1',
    byType: (type) => resources.filter((candidate) => candidate.type === type),
    credentialsFor: (roleArn, functionName) => ({
      accessKeyId: `${roleArn} ${functionName}`,
      secretAccessKey: 'secret',
    }),
  };
}

/** Keeps the bundled runtime and the compile cache between tests of one file. */
export class FunctionBed {
  readonly #directory = mkdtempSync(join(tmpdir(), 'local-functions-'));
  readonly #started: LocalFunctions[] = [];

  /** Writes the handlers to disk and answers the resources that name them. */
  resources(functions: Readonly<Record<string, TestFunction>>): DeployedResource[] {
    return Object.entries(functions).map(([name, { code, properties }]) => {
      const assetPath = join(this.#directory, name);
      mkdirSync(assetPath, { recursive: true });
      writeFileSync(join(assetPath, 'index.mjs'), code);
      return resource('AWS::Lambda::Function', name, {
        arn: functionArn(name),
        assetPath,
        properties: { Handler: 'index.handler', Role: `role-of-${name}`, Runtime: 'nodejs24.x', ...properties },
      });
    });
  }

  async start(
    functions: Readonly<Record<string, TestFunction>>,
    options: Partial<FunctionsOptions> = {},
    others: readonly DeployedResource[] = [],
    allows?: (question: AuthorizationRequest) => boolean,
  ): Promise<LocalFunctions> {
    const cloud = cloudOf([...this.resources(functions), ...others], allows);
    const started = await LocalFunctions.create({ cloud, cacheDirectory: join(this.#directory, 'cache'), ...options });
    this.#started.push(started);
    return started;
  }

  /** Stops what was started since the last call. */
  async stop(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((functions) => functions.stop()));
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
