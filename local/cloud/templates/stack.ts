import type { DeployedResource, Json, JsonObject } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import type { StackTemplate, TemplateResource } from './assembly.ts';
import { evaluate, evaluateCondition, type Scope } from './intrinsics.ts';
import { type CloudEnvironment, Naming, type ResourceModel } from './types/model.ts';
import { ignoredTypes, resourceModels } from './types/registry.ts';

/**
 * Evaluates the resources of one stack. A resource is evaluated when something refers to it first, so whatever order the
 * template has, each resource comes after those it needs.
 */
export class StackEvaluation {
  readonly #stack: StackTemplate;
  readonly #environment: CloudEnvironment;
  readonly #exported: ReadonlyMap<string, Json>;
  readonly #done = new Map<string, DeployedResource>();
  readonly #underway = new Set<string>();

  constructor(stack: StackTemplate, environment: CloudEnvironment, exported: ReadonlyMap<string, Json>) {
    this.#stack = stack;
    this.#environment = environment;
    this.#exported = exported;
  }

  run(): { resources: DeployedResource[]; ignored: string[] } {
    const ignored: string[] = [];
    for (const [logicalId, resource] of Object.entries(this.#stack.template.Resources)) {
      const reason = ignoredTypes[resource.Type];
      if (reason !== undefined) ignored.push(`${this.#stack.name}/${logicalId} (${resource.Type}): ${reason}`);
      else if (this.#exists(resource)) this.#resource(logicalId, this.#place(logicalId, resource));
    }
    return { resources: [...this.#done.values()], ignored };
  }

  /** Names as they are seen from one place in the template. */
  scope(place: string): Scope {
    return {
      place,
      ref: (name) => this.#pseudo(name) ?? this.#parameter(name, place) ?? this.#ref(name, place),
      getAtt: (logicalId, attribute) => this.#attribute(logicalId, attribute, place),
      importValue: (name) => {
        const value = this.#exported.get(name);
        if (value !== undefined) return value;
        throw new LocalCloudError(`${place}: no stack before ${this.#stack.name} exports ${name}.`);
      },
      condition: (name) => {
        const condition = this.#stack.template.Conditions[name];
        if (condition !== undefined) return evaluateCondition(condition, this.scope(`${place}, condition ${name}`));
        throw new LocalCloudError(`${place}: the template declares no condition ${name}.`);
      },
      mapping: (map, first, second) => {
        const value = this.#stack.template.Mappings[map]?.[first]?.[second];
        if (value !== undefined) return value;
        throw new LocalCloudError(`${place}: the template maps nothing to ${map}.${first}.${second}.`);
      },
    };
  }

  #resource(logicalId: string, place: string): DeployedResource {
    const done = this.#done.get(logicalId);
    if (done !== undefined) return done;
    const resource = this.#stack.template.Resources[logicalId];
    if (resource === undefined) throw new LocalCloudError(`${place}: the template declares no resource ${logicalId}.`);
    if (this.#underway.has(logicalId)) {
      throw new LocalCloudError(`${place}: ${[...this.#underway, logicalId].join(' → ')} refer to each other.`);
    }
    this.#underway.add(logicalId);
    for (const dependency of [resource.DependsOn].flat()) this.#dependency(dependency, place);
    const deployed = this.#evaluate(logicalId, resource);
    this.#underway.delete(logicalId);
    this.#done.set(logicalId, deployed);
    return deployed;
  }

  #dependency(logicalId: string, place: string): void {
    const resource = this.#stack.template.Resources[logicalId];
    if (resource !== undefined && (resource.Type in ignoredTypes || !this.#exists(resource))) return;
    this.#resource(logicalId, place);
  }

  #evaluate(logicalId: string, resource: TemplateResource): DeployedResource {
    const place = this.#place(logicalId, resource);
    const model = resourceModels[resource.Type];
    if (model === undefined) {
      throw new LocalCloudError(
        `${place}: the local cloud does not know this type. Add it to templates/types of the local cloud, or to the ignored types there if nothing on this machine depends on it.`,
      );
    }
    const properties = this.#properties(resource, model, place);
    const identity = model.identify(new Naming(this.#stack.name, logicalId, properties, this.#environment));
    const assetPath = this.#assetPath(properties);
    const path = resource.Metadata['aws:cdk:path'];
    return {
      stack: this.#stack.name,
      logicalId,
      type: resource.Type,
      path: typeof path === 'string' ? path : logicalId,
      ...identity,
      properties,
      ...(assetPath === undefined ? {} : { assetPath }),
    };
  }

  #properties(resource: TemplateResource, model: ResourceModel, place: string): JsonObject {
    const properties: JsonObject = {};
    for (const [name, value] of Object.entries(resource.Properties)) {
      if (model.harmless?.[name] !== undefined) continue;
      if (!model.understood.includes(name)) {
        throw new LocalCloudError(
          `${place}: the local cloud does not act on the property ${name}, which may matter. Teach it in templates/types of the local cloud, or list it as harmless there with a reason.`,
        );
      }
      const evaluated = evaluate({ [name]: value }, this.scope(`${place}, property ${name}`));
      Object.assign(properties, evaluated);
    }
    return properties;
  }

  #assetPath(properties: JsonObject): string | undefined {
    const code = properties['Code'];
    if (typeof code !== 'object' || code === null || Array.isArray(code)) return undefined;
    const key = code['S3Key'];
    return typeof key === 'string' ? this.#stack.assets.get(key) : undefined;
  }

  #exists(resource: TemplateResource): boolean {
    return resource.Condition === undefined || this.scope(this.#stack.name).condition(resource.Condition);
  }

  #place(logicalId: string, resource: TemplateResource): string {
    return `${this.#stack.name}/${logicalId} (${resource.Type})`;
  }

  #ref(name: string, place: string): Json | undefined {
    return this.#stack.template.Resources[name] === undefined ? undefined : this.#resource(name, place).physicalId;
  }

  #attribute(logicalId: string, attribute: string, place: string): Json {
    const resource = this.#resource(logicalId, place);
    const value = resource.attributes[attribute];
    if (value !== undefined) return value;
    throw new LocalCloudError(
      `${place}: the local cloud has no attribute ${attribute} of ${logicalId} (${resource.type}).`,
    );
  }

  #parameter(name: string, place: string): Json | undefined {
    const parameter = this.#stack.template.Parameters[name];
    if (parameter === undefined) return undefined;
    if (parameter.Default !== undefined && !parameter.Type.startsWith('AWS::SSM::')) return parameter.Default;
    throw new LocalCloudError(`${place}: the parameter ${name} has no value that is known before deployment.`);
  }

  #pseudo(name: string): Json | undefined {
    const { region, accountId, names } = this.#environment;
    switch (name) {
      case 'AWS::Region':
        return region;
      case 'AWS::AccountId':
        return accountId;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return this.#stack.name;
      case 'AWS::StackId':
        return `arn:aws:cloudformation:${region}:${accountId}:stack/${this.#stack.name}/${names.uuid(this.#stack.name)}`;
      case 'AWS::NotificationARNs':
        return [];
      default:
        return undefined;
    }
  }
}
