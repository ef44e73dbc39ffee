/** The types that the parts of the local cloud, and those who use it, share. */

/** Anything a template evaluates to: plain JSON, with no intrinsic functions left in it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object; the evaluated `Properties` of a resource are one. */
export type JsonObject = { [key: string]: Json };

/** One resource of the synthesized templates, evaluated: no intrinsic function is left in its properties. */
export interface DeployedResource {
  /** Name of the CloudFormation stack. */
  readonly stack: string;
  /** Logical id inside the stack's template. */
  readonly logicalId: string;
  /** CloudFormation type, for example `AWS::Lambda::Function`. */
  readonly type: string;
  /** Construct path from the template's metadata (`aws:cdk:path`), or the logical id where there is none. */
  readonly path: string;
  /** What `Ref` gives: a queue's URL on the local endpoint, a function's name, a REST API's id… */
  readonly physicalId: string;
  /** The resource's ARN; an empty string for types that have none (a Lambda permission, an API method). */
  readonly arn: string;
  /** The template's properties with every intrinsic evaluated. */
  readonly properties: JsonObject;
  /** Everything `Fn::GetAtt` can give for this resource, by attribute name. */
  readonly attributes: Readonly<Record<string, Json>>;
  /** Directory (or file) of the synthesized asset that a function's `Code` names; only on functions. */
  readonly assetPath?: string;
}

/** Credentials that the local cloud issued; the front knows their secret and checks signatures with it. */
export interface IssuedCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** An AWS call that was refused for want of permission. */
export interface Denial {
  readonly atMs: number;
  /** ARN of the caller, for example `arn:aws:sts::123456789012:assumed-role/ROLE/FUNCTION`. */
  readonly principal: string;
  /** Name of the function the caller's credentials were issued for, if any. */
  readonly functionName: string | undefined;
  /** IAM action, for example `sqs:SendMessage`. */
  readonly action: string;
  readonly resource: string;
  /** The sentence AWS answers with. */
  readonly message: string;
}

/** A statement of a policy in the templates. */
export interface StatementReference {
  /** Name of the role for identity policies; ARN of the resource for bucket, queue, topic and key policies. */
  readonly owner: string;
  /** Name of the function(s) that run under the role; empty for resource policies. */
  readonly functionNames: readonly string[];
  readonly kind: 'identity' | 'resource';
  /** Policy name: an inline policy's name, a managed policy's ARN, or the logical id of a resource policy. */
  readonly policy: string;
  /** Index of the statement in its policy document, from 0. */
  readonly index: number;
  readonly sid: string | undefined;
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** A single action of a statement that allowed at least one call. */
export interface UsedStatement extends StatementReference {
  /** Actions seen, with the number of calls they allowed. */
  readonly calls: Readonly<Record<string, number>>;
}

/** A question to the authorizer that does not come from an AWS call (a schedule's role, an alarm's topic, …). */
export interface AuthorizationRequest {
  /**
   * Who asks: an ARN of a role (its policies are consulted), or a service principal such as
   * `apigateway.amazonaws.com` (only resource policies are consulted).
   */
  readonly principal: string;
  /** Function the role's session is for; gives the session name. */
  readonly functionName?: string;
  readonly action: string;
  readonly resource: string;
  /** Condition keys of the request, for example `aws:SourceArn`. */
  readonly context?: Readonly<Record<string, string | readonly string[]>>;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  /** The sentence AWS answers with; empty when allowed. */
  readonly message: string;
}

/** A message that a service publishes to a topic, such as an alarm's. */
export interface Publication {
  /** Service principal, such as `cloudwatch.amazonaws.com`. */
  readonly principal: string;
  readonly topicArn: string;
  readonly subject: string;
  readonly message: string;
  readonly context?: AuthorizationRequest['context'] & {};
}

/** What the front saw of one AWS call, reported after its answer was sent. */
export interface ObservedCall {
  readonly atMs: number;
  readonly durationMs: number;
  /** ARN of the caller; `arn:aws:iam::<account>:root` for the operator. */
  readonly principal: string;
  readonly functionName: string | undefined;
  /** `sqs`, `sns`, `s3`, `dynamodb`, `secretsmanager`, `lambda` or `sts`. */
  readonly service: string;
  /** Operation of the API, for example `SendMessageBatch` or `PutObject`. */
  readonly operation: string;
  /** Name of the table, queue, bucket, function or secret the call was about; the first one where there are several. */
  readonly target: string | undefined;
  /** HTTP status of the answer; 0 when the caller never got it. */
  readonly status: number;
  readonly errorCode: string | undefined;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** The parsed body of a JSON-protocol call (SQS, DynamoDB, Secrets Manager); undefined for S3, SNS and Lambda. */
  readonly input: unknown;
  /** Capacity units of the table that a DynamoDB call consumed; undefined unless `metersCapacity` is set. */
  readonly capacityUnits: number | undefined;
}

/** Calls of one kind so far. */
export interface CallCount {
  readonly principal: string;
  readonly functionName: string | undefined;
  readonly service: string;
  readonly operation: string;
  readonly target: string | undefined;
  readonly calls: number;
  /** Calls answered with a status of 400 or more, or not at all. */
  readonly errors: number;
}

/** How a faulty call fails. */
export type FaultKind =
  /** Refused with the service's own throttling error; nothing is done. */
  | 'throttle'
  /** Refused with a 503; nothing is done. */
  | 'unavailable'
  /** Done, and then the connection is closed without an answer. */
  | 'lost_reply';

export interface FaultRule {
  readonly match: {
    readonly service?: string;
    /** Operation (`UpdateItem`) or IAM action (`dynamodb:UpdateItem`). */
    readonly action?: string;
    /** Function name, role name or ARN of the caller. */
    readonly principal?: string;
  };
  /** Share of the matching calls that fail, 0 to 1. */
  readonly rate: number;
  readonly error: FaultKind;
  /** How long the rule lasts; until it is removed when absent. */
  readonly forMs?: number;
}

/** Switches faults on and off. Draws come from a generator seeded with the cloud's `seed`. */
export interface Faults {
  /** Adds a rule; call the returned function to remove it. */
  add(rule: FaultRule): () => void;
  clear(): void;
  /** Calls that were made to fail so far. */
  injected(): number;
}

/** What a queue holds at this moment. */
export interface QueueDepth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /**
   * When the oldest message that is still in the queue came into it, ms since the epoch; undefined when empty. For a dead letter that is
   * when it was moved there: it expires by the time at which it was first sent, but its queue's age does not count from then.
   */
  readonly oldestArrivalTimestamp: number | undefined;
}

/** A request to run a function, from `lambda:Invoke` or from an event source. */
export interface InvokeRequest {
  readonly functionName: string;
  /** The event as JSON text. */
  readonly payload: string;
  readonly invocationType: 'RequestResponse' | 'Event' | 'DryRun';
  /** ARN of the caller. */
  readonly principal: string;
  /** `Tail` asks for the last 4 KB of the log, base64, in the answer. */
  readonly logType: 'None' | 'Tail';
}

export interface InvokeResult {
  /** 200 for `RequestResponse`, 202 for `Event`, 204 for `DryRun`, 429 when the function's concurrency is used up. */
  readonly statusCode: number;
  /** The answer as JSON text (the error object when `functionError` is set); empty for `Event` and `DryRun`. */
  readonly payload: string;
  readonly functionError?: 'Handled' | 'Unhandled';
  /** Base64 of the log's end, when asked for. */
  readonly logResult?: string;
}

/** Runs functions; the Lambda half of the local cloud gives one to `Cloud.attachInvoker`. */
export interface FunctionInvoker {
  invoke(request: InvokeRequest): Promise<InvokeResult>;
}

export interface CloudOptions {
  /** A cloud assembly, as `cdk synth` writes it. */
  readonly assemblyDirectory: string;
  /** Names of the stacks to run; all stacks of the assembly when absent. */
  readonly stacks?: readonly string[] | undefined;
  /** Default `us-east-1`, or the region the assembly was synthesized for. */
  readonly region?: string | undefined;
  /** Default `123456789012`, or the account the assembly was synthesized for. */
  readonly accountId?: string | undefined;
  /** Seeds physical names and faults. Default: random names, faults from seed 1. */
  readonly seed?: number | undefined;
  /** Port of the AWS endpoint on 127.0.0.1. Default 0: any free port. */
  readonly port?: number | undefined;
  /** Has every DynamoDB call say what capacity it consumed, for observers. Default false: it costs time. */
  readonly metersCapacity?: boolean | undefined;
}

/**
 * A running local cloud.
 *
 * Queues hand messages out with SQS's fair ordering by themselves: `MessageGroupId` is kept on standard queues, comes back
 * as a system attribute, and a group that keeps many messages in flight waits while others have messages.
 */
export interface Cloud {
  /** `http://127.0.0.1:PORT`: speaks the AWS protocols of the emulated services and checks every call. */
  readonly awsEndpoint: string;
  readonly region: string;
  readonly accountId: string;
  /** Every resource of the templates, in the order in which they were created. */
  readonly resources: readonly DeployedResource[];
  /** Resources that were left out, as `stack/logicalId (type): reason`; nothing on this machine depends on them. */
  readonly ignored: readonly string[];
  /** Outputs by stack name and output key. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  byType(type: string): readonly DeployedResource[];
  /** @throws LocalCloudError when no stack, or more than one, has the logical id and no stack is named. */
  byLogicalId(logicalId: string, stack?: string): DeployedResource;
  /** The resource with this ARN or physical id, if the templates declare one. */
  find(arnOrPhysicalId: string): DeployedResource | undefined;
  /** Credentials of a function's execution role; the same pair is always given for the same role and function. */
  credentialsFor(roleArn: string, functionName: string): IssuedCredentials;
  /** Credentials that may do everything, for the operator and for a plain AWS CLI. */
  readonly operatorCredentials: IssuedCredentials;
  /** Asks the authorizer about something that is not an AWS call through the endpoint; denials are recorded. */
  authorize(request: AuthorizationRequest): Promise<AuthorizationDecision>;
  /**
   * Publishes what a service has to say, where the policies of the topic and of its key let the service.
   *
   * @throws LocalCloudError when the templates have no such topic
   */
  publish(publication: Publication): Promise<AuthorizationDecision>;
  denials(): readonly Denial[];
  usedStatements(): readonly UsedStatement[];
  unusedStatements(): readonly StatementReference[];
  /**
   * What of all that was allowed so far would be refused if the policies lacked a statement: whether anything needs it,
   * decided from the questions that were asked, without running anything again.
   */
  refusedWithout(statement: StatementReference): Promise<readonly Omit<Denial, 'atMs'>[]>;
  /** Decides as if the policies lacked a statement, until the returned function is called. One statement at a time. */
  withhold(statement: StatementReference): () => void;
  readonly faults: Faults;
  calls(): readonly CallCount[];
  /** Registers an observer of every call; call the returned function to remove it. */
  onCall(observer: (call: ObservedCall) => void): () => void;
  readonly inspect: {
    /** @throws LocalCloudError when the URL or ARN names no queue of this cloud. */
    queueDepth(queueUrlOrArn: string): Promise<QueueDepth>;
  };
  /** Lets `lambda:Invoke` reach functions. Until then it answers 503. */
  attachInvoker(invoker: FunctionInvoker): void;
  /** Closes every socket, timer and thread. */
  stop(): Promise<void>;
}
