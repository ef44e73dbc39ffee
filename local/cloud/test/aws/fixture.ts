import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { startCloud } from '../../cloud.ts';
import type { Cloud } from '../../contract.ts';
import type { Json } from '../../contract.ts';

/** Every cloud starts two emulators in threads of their own, which takes a while on a busy machine. */
jest.setTimeout(60_000);

export type Resources = Record<string, { Type: string; Properties?: Json; [member: string]: Json | undefined }>;

/** Writes a cloud assembly as `cdk synth` would, one template per stack in the order given. */
export function writeAssembly(stacks: Record<string, { Resources: Resources; [section: string]: Json | Resources }>): {
  directory: string;
  remove: () => void;
} {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'));
  const names = Object.keys(stacks);
  const artifacts = Object.fromEntries(
    names.map((name, index) => [
      name,
      {
        type: 'aws:cloudformation:stack',
        environment: 'aws://unknown-account/unknown-region',
        dependencies: [...names.slice(0, index), `${name}.assets`],
        properties: { templateFile: `${name}.template.json` },
      },
    ]),
  );
  const assets = Object.fromEntries(
    names.map((name) => [
      `${name}.assets`,
      { type: 'cdk:asset-manifest', properties: { file: `${name}.assets.json` } },
    ]),
  );
  mkdirSync(join(directory, 'asset.code'));
  const files = { code: { source: { path: 'asset.code' }, destinations: { here: { objectKey: 'code.zip' } } } };
  for (const name of names) {
    writeFileSync(join(directory, `${name}.template.json`), JSON.stringify(stacks[name]));
    writeFileSync(join(directory, `${name}.assets.json`), JSON.stringify({ files }));
  }
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ artifacts: { ...artifacts, ...assets } }));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** A role that Lambda may assume, with one inline policy. */
export function role(...statements: Json[]): Resources[string] {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
      },
      Policies: [{ PolicyName: 'Inline', PolicyDocument: { Version: '2012-10-17', Statement: statements } }],
    },
  };
}

export function allow(actions: string | string[], resource: Json, more: Record<string, Json> = {}): Json {
  return { Effect: 'Allow', Action: actions, Resource: resource, ...more };
}

export function getAtt(logicalId: string, attribute = 'Arn'): Json {
  return { 'Fn::GetAtt': [logicalId, attribute] };
}

/** Starts a cloud of one stack called `Test`. */
export async function startTestCloud(resources: Resources): Promise<Cloud> {
  const assembly = writeAssembly({ Test: { Resources: resources } });
  try {
    return await startCloud({ assemblyDirectory: assembly.directory, seed: 1 });
  } finally {
    assembly.remove();
  }
}

/** Settings of an SDK client that calls as a function with the role. */
export function clientOf(
  cloud: Cloud,
  roleLogicalId: string,
): {
  endpoint: string;
  region: string;
  credentials: ReturnType<Cloud['credentialsFor']>;
  maxAttempts: number;
} {
  const { arn } = cloud.byLogicalId(roleLogicalId);
  const credentials = cloud.credentialsFor(arn, 'tester');
  return { endpoint: cloud.awsEndpoint, region: cloud.region, credentials, maxAttempts: 1 };
}

export function operatorOf(cloud: Cloud): ReturnType<typeof clientOf> {
  const { awsEndpoint: endpoint, region, operatorCredentials: credentials } = cloud;
  return { endpoint, region, credentials, maxAttempts: 1 };
}

/** What a promise is rejected with; fails when it is not. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('The call was expected to fail, and succeeded.');
}
