import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { standInsEnvironment } from '../../lambdas/stand-ins/env.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';

export interface StandInsProps {
  readonly settings: FunctionSettings;
  /** What callers must send. */
  readonly credential: string;
  /** Names of the providers that it stands in for. */
  readonly names: readonly string[];
}

/** A function with a URL of its own that answers in the place of the providers, so that a first deployment works by itself. */
export class StandIns extends Construct {
  /** By provider name, in the place of the configured ones. */
  readonly baseUrls: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, { settings, credential, names }: StandInsProps) {
    super(scope, id);
    const { fn } = new PipelineFunction(this, 'StandIns', {
      settings: {
        ...settings,
        alarms: { unwatchedBecause: 'What it answers is made up: the provider alarms watch it.' },
      },
      name: 'stand-ins',
      description: 'Answers in the place of the providers',
      schema: standInsEnvironment,
      environment: { STAND_IN_CREDENTIAL: credential },
      timeoutSeconds: 10,
      memoryMb: 256,
    });
    // The credential is checked by the function, as a provider would.
    const { url } = fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    this.baseUrls = Object.fromEntries(names.map((name) => [name, `${url}${name}`]));
  }
}
