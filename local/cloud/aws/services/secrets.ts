import { randomBytes, randomUUID } from 'node:crypto';
import type { DeployedResource, JsonObject } from '../../contract.ts';
import type { Call } from '../front/call.ts';
import { AwsError, jsonReply, type Reply } from '../front/errors.ts';
import type { Gate } from '../front/gate.ts';
import type { Service } from '../front/service.ts';
import { isRecord, textOf } from '../shapes.ts';

const CONTENT_TYPE = 'application/x-amz-json-1.1';

interface Version {
  readonly id: string;
  readonly value: string;
  readonly createdAtSeconds: number;
  stages: string[];
}

interface Secret {
  readonly arn: string;
  readonly name: string;
  readonly description: string;
  versions: Version[];
}

/** Secrets Manager: the templates' secrets in memory, with the versions `AWSCURRENT` and `AWSPREVIOUS`. */
export class SecretsService implements Service {
  readonly name = 'secretsmanager';
  readonly buffersBody = true;
  readonly #gate: Gate;
  readonly #secrets: readonly Secret[];

  constructor(gate: Gate, secrets: readonly DeployedResource[]) {
    this.#gate = gate;
    this.#secrets = secrets.map(create);
  }

  async handle(call: Call): Promise<Reply> {
    call.operation = (call.header('x-amz-target') ?? '').replace(/^secretsmanager\./, '');
    const input = call.readJson();
    const action = `secretsmanager:${call.operation}`;
    if (call.operation === 'ListSecrets') {
      await this.#gate.pass(call, [{ action, resource: '*' }]);
      return jsonReply({ SecretList: this.#secrets.map(describe) }, CONTENT_TYPE);
    }
    const answer = OPERATIONS[call.operation];
    if (answer === undefined) {
      throw new AwsError(400, 'UnknownOperationException', `The local cloud does not support ${action}.`);
    }
    const id = textOf(input['SecretId']);
    const secret = this.#secrets.find(({ arn, name }) => id === arn || id === name || id === arn.slice(0, -7));
    call.target = secret?.name ?? id;
    const resource = secret?.arn ?? (id.startsWith('arn:') ? id : '*');
    await this.#gate.pass(call, [{ action, resource }]);
    if (secret === undefined) {
      throw new AwsError(400, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    }
    return jsonReply(answer(secret, input), CONTENT_TYPE);
  }
}

const OPERATIONS: Readonly<Record<string, (secret: Secret, input: Record<string, unknown>) => unknown>> = {
  GetSecretValue: getValue,
  PutSecretValue: putValue,
  UpdateSecret: putValue,
  DescribeSecret: describe,
};

function getValue(secret: Secret, input: Record<string, unknown>): unknown {
  const id = input['VersionId'];
  const stage = input['VersionStage'] ?? (id === undefined ? 'AWSCURRENT' : undefined);
  const version = secret.versions.find(
    (candidate) =>
      (id === undefined || candidate.id === id) && (stage === undefined || candidate.stages.includes(textOf(stage))),
  );
  if (version === undefined) {
    const wanted = id === undefined ? `staging label: ${textOf(stage)}` : `VersionId: ${textOf(id)}`;
    throw new AwsError(
      400,
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for ${wanted}`,
    );
  }
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: version.id,
    SecretString: version.value,
    VersionStages: version.stages,
    CreatedDate: version.createdAtSeconds,
  };
}

function putValue(secret: Secret, input: Record<string, unknown>): unknown {
  const value = input['SecretString'];
  if (typeof value !== 'string') {
    throw new AwsError(
      400,
      'InvalidParameterException',
      'You must provide SecretString; binary secrets are not kept here.',
    );
  }
  const id = typeof input['ClientRequestToken'] === 'string' ? input['ClientRequestToken'] : randomUUID();
  const stages = Array.isArray(input['VersionStages']) ? input['VersionStages'].map(textOf) : ['AWSCURRENT'];
  addVersion(secret, id, value, stages);
  return { ARN: secret.arn, Name: secret.name, VersionId: id, VersionStages: stages };
}

/** The version that was current becomes the previous one, and versions without a stage are forgotten. */
function addVersion(secret: Secret, id: string, value: string, stages: string[]): void {
  const isCurrent = stages.includes('AWSCURRENT');
  for (const version of secret.versions) {
    const wasCurrent = version.stages.includes('AWSCURRENT');
    version.stages = version.stages.filter(
      (stage) => !stages.includes(stage) && !(isCurrent && stage === 'AWSPREVIOUS'),
    );
    if (isCurrent && wasCurrent) version.stages.push('AWSPREVIOUS');
  }
  const added = { id, value, createdAtSeconds: Date.now() / 1000, stages: [...stages] };
  secret.versions = [added, ...secret.versions.filter((version) => version.id !== id && version.stages.length > 0)];
}

function describe(secret: Secret): unknown {
  return {
    ARN: secret.arn,
    Name: secret.name,
    Description: secret.description,
    LastChangedDate: secret.versions[0]?.createdAtSeconds,
    VersionIdsToStages: Object.fromEntries(secret.versions.map(({ id, stages }) => [id, stages])),
  };
}

function create(resource: DeployedResource): Secret {
  const { arn, properties } = resource;
  const name = arn.slice(arn.indexOf(':secret:') + ':secret:'.length, -7);
  const secret: Secret = { arn, name, description: textOf(properties['Description']), versions: [] };
  addVersion(secret, randomUUID(), initialValue(properties), ['AWSCURRENT']);
  return secret;
}

function initialValue(properties: JsonObject): string {
  const fixed = properties['SecretString'];
  if (typeof fixed === 'string') return fixed;
  const generate = properties['GenerateSecretString'];
  if (!isRecord(generate)) return randomPassword(32, '', false);
  const password = randomPassword(
    Number(generate['PasswordLength'] ?? 32),
    textOf(generate['ExcludeCharacters']),
    generate['ExcludePunctuation'] === true,
  );
  const template = generate['SecretStringTemplate'];
  if (typeof template !== 'string') return password;
  const content: unknown = JSON.parse(template);
  return JSON.stringify({ ...(isRecord(content) ? content : {}), [textOf(generate['GenerateStringKey'])]: password });
}

function randomPassword(length: number, excluded: string, lettersAndDigits: boolean): string {
  const alphabet = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).filter(
    (char) => !excluded.includes(char) && (!lettersAndDigits || /[A-Za-z0-9]/.test(char)),
  );
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
}
