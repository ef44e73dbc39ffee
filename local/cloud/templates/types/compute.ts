import { FUNCTION_URLS, HARMLESS, type ResourceModel, withoutArn, words } from './model.ts';

/** Functions, what runs them, and the roles they run under. */
export const computeTypes: Readonly<Record<string, ResourceModel>> = {
  'AWS::Lambda::Function': {
    understood: words(`
        Architectures Code Description Environment EphemeralStorage FunctionName Handler LoggingConfig
        MemorySize PackageType ReservedConcurrentExecutions Role Runtime Timeout`),
    harmless: {
      KmsKeyArn: HARMLESS.encryption,
      RecursiveLoop: 'loops are not detected here',
      RuntimeManagementConfig: 'functions run on the Node.js of this machine, checked at start',
      Tags: HARMLESS.tags,
      TracingConfig: HARMLESS.tracing,
    },
    identify: (naming) => {
      const name = naming.name('FunctionName', 64);
      const arn = naming.arn('lambda', `function:${name}`);
      return { physicalId: name, arn, attributes: { Arn: arn } };
    },
  },
  'AWS::Lambda::Version': {
    understood: ['Description', 'FunctionName'],
    harmless: {
      CodeSha256: 'there is one version of the code here',
      RuntimePolicy: 'functions run on the Node.js of this machine',
    },
    identify: (naming) => {
      const arn = `${functionArn(naming.text('FunctionName') ?? '', naming.arn('lambda', 'function'))}:1`;
      return { physicalId: arn, arn, attributes: { FunctionArn: arn, Version: '1' } };
    },
  },
  'AWS::Lambda::Alias': {
    understood: ['Description', 'FunctionName', 'FunctionVersion', 'Name'],
    identify: (naming) => {
      const name = naming.text('Name') ?? naming.logicalId;
      const arn = `${functionArn(naming.text('FunctionName') ?? '', naming.arn('lambda', 'function'))}:${name}`;
      return { physicalId: arn, arn, attributes: { AliasArn: arn } };
    },
  },
  'AWS::Lambda::Permission': withoutArn(
    words('Action FunctionName FunctionUrlAuthType InvokedViaFunctionUrl Principal SourceAccount SourceArn'),
    (naming) => naming.name(undefined, 100),
  ),
  'AWS::Lambda::Url': {
    understood: ['AuthType', 'TargetFunctionArn'],
    identify: (naming) => {
      const arn = naming.text('TargetFunctionArn') ?? '';
      const url = `${naming.environment.endpoint}${FUNCTION_URLS}${arn.split(':').at(-1) ?? ''}/`;
      return { physicalId: arn, arn: '', attributes: { FunctionArn: arn, FunctionUrl: url } };
    },
  },
  'AWS::Lambda::EventSourceMapping': {
    understood: words(`
        BatchSize Enabled EventSourceArn FunctionName FunctionResponseTypes
        MaximumBatchingWindowInSeconds ScalingConfig`),
    harmless: { MetricsConfig: 'the event source metrics cost extra and are not collected here', Tags: HARMLESS.tags },
    identify: (naming) => {
      const id = naming.uuid();
      const arn = naming.arn('lambda', `event-source-mapping:${id}`);
      return { physicalId: id, arn, attributes: { Id: id, EventSourceMappingArn: arn } };
    },
  },
  'AWS::Lambda::EventInvokeConfig': withoutArn(
    words(`
        DestinationConfig FunctionName MaximumEventAgeInSeconds MaximumRetryAttempts Qualifier`),
    (naming) => naming.uuid(),
  ),
  'AWS::IAM::Role': {
    understood: words('AssumeRolePolicyDocument ManagedPolicyArns PermissionsBoundary Policies RoleName'),
    harmless: {
      Description: 'for people',
      MaxSessionDuration: 'credentials do not expire here',
      Path: 'only part of the ARN of roles that are looked up by path',
      Tags: HARMLESS.tags,
    },
    identify: (naming) => {
      const name = naming.name('RoleName', 64);
      const arn = naming.globalArn('iam', `role/${name}`);
      return { physicalId: name, arn, attributes: { Arn: arn, RoleId: `AROA${naming.suffix(17, 'id')}` } };
    },
  },
  'AWS::IAM::Policy': withoutArn(['PolicyDocument', 'PolicyName', 'Roles'], (naming) => naming.name('PolicyName', 128)),
  'AWS::IAM::ManagedPolicy': {
    understood: ['ManagedPolicyName', 'PolicyDocument', 'Roles'],
    harmless: { Description: 'for people', Path: 'only part of the ARN' },
    identify: (naming) => {
      const arn = naming.globalArn('iam', `policy/${naming.name('ManagedPolicyName', 128)}`);
      return { physicalId: arn, arn, attributes: { PolicyArn: arn } };
    },
  },
};

/** A function's ARN from its name or from its ARN; `prefix` is `arn:aws:lambda:<region>:<account>:function`. */
function functionArn(nameOrArn: string, prefix: string): string {
  return nameOrArn.startsWith('arn:') ? nameOrArn : `${prefix}:${nameOrArn}`;
}
