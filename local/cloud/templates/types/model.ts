import type { Json, JsonObject } from '../../contract.ts';
import { type NameSource, physicalName } from '../names.ts';

/** Where the templates run. */
export interface CloudEnvironment {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly region: string;
  readonly accountId: string;
  readonly names: NameSource;
}

/** What CloudFormation would know of a resource once it is created. */
export interface Identity {
  /** What `Ref` gives. */
  readonly physicalId: string;
  /** Empty for types without an ARN. */
  readonly arn: string;
  /** What `Fn::GetAtt` gives, by attribute name. */
  readonly attributes: Readonly<Record<string, Json>>;
}

/** How the local cloud treats one CloudFormation type. */
export interface ResourceModel {
  /** Properties that something in the local cloud acts on. */
  readonly understood: readonly string[];
  /** Properties without an effect on this machine, each with the reason why leaving them out changes nothing here. */
  readonly harmless?: Readonly<Record<string, string>>;
  identify(naming: Naming): Identity;
}

/** Makes the names and ARNs of one resource. */
export class Naming {
  readonly stack: string;
  readonly logicalId: string;
  readonly properties: JsonObject;
  readonly environment: CloudEnvironment;

  constructor(stack: string, logicalId: string, properties: JsonObject, environment: CloudEnvironment) {
    this.stack = stack;
    this.logicalId = logicalId;
    this.properties = properties;
    this.environment = environment;
  }

  /** A text property, or undefined where the template leaves it out. */
  text(property: string): string | undefined {
    const value = this.properties[property];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** The name that a property fixes, or `<stack>-<logicalId>-<suffix>` shortened to what the service allows. */
  name(property: string | undefined, maxLength: number): string {
    const fixed = property === undefined ? undefined : this.text(property);
    return fixed ?? physicalName([this.stack, this.logicalId], this.suffix(12), maxLength);
  }

  /** Random-looking upper-case letters and digits; the same for the same purpose. */
  suffix(length: number, purpose = 'name'): string {
    return this.environment.names.upper(length, this.stack, this.logicalId, purpose);
  }

  /** An id as API Gateway makes them: ten lower-case letters and digits. */
  shortId(length = 10): string {
    return this.environment.names.lower(length, this.stack, this.logicalId);
  }

  uuid(): string {
    return this.environment.names.uuid(this.stack, this.logicalId);
  }

  /** An ARN in the cloud's region and account. */
  arn(service: string, resource: string): string {
    return `arn:aws:${service}:${this.environment.region}:${this.environment.accountId}:${resource}`;
  }

  /** An ARN of a service without regions, such as IAM. */
  globalArn(service: string, resource: string): string {
    return `arn:aws:${service}::${this.environment.accountId}:${resource}`;
  }
}

/** Path of the endpoint below which functions have their URLs, by name. */
export const FUNCTION_URLS = '/function-urls/';

/** The names in a text, which may span lines. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** A model of a type that has an id, and neither an ARN nor attributes. */
export function withoutArn(
  understood: readonly string[],
  id: (naming: Naming) => string,
  harmless: Readonly<Record<string, string>> = {},
): ResourceModel {
  return { understood, harmless, identify: (naming) => ({ physicalId: id(naming), arn: '', attributes: {} }) };
}

/** Reasons shared by many types. */
export const HARMLESS = {
  tags: 'tags are for people and bills',
  tracing: 'no traces are collected here',
  encryption: 'data is not encrypted on this machine; the key and its policy are still checked',
  deletion: 'nothing is ever deleted by a template here',
  backup: 'no backups are made of what lives in memory',
} as const;
