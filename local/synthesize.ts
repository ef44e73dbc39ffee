import { resolve } from 'node:path';
import { synthesize as synthesizeApp, type SynthesisOptions } from './cloud/index.ts';

const ROOT = resolve(import.meta.dirname, '..');
const INPUTS = ['bin', 'lib', 'config', 'lambdas', 'cdk.json', 'package-lock.json', 'tsconfig.json'];

export interface StageSynthesisOptions extends Pick<SynthesisOptions, 'bundling' | 'context'> {
  /** Name of the stage under `config/stages`. */
  readonly stage: string;
  /** Default: this project. */
  readonly root?: string;
}

/**
 * Synthesizes the stacks of a stage, or takes what was synthesized of the same sources before.
 *
 * @returns the absolute path of a cloud assembly
 * @throws LocalCloudError with the app's own output when it fails
 */
export const synthesize = ({ stage, context, bundling, root = ROOT }: StageSynthesisOptions): Promise<string> =>
  synthesizeApp({
    root,
    app: ['scripts/ts.mjs', 'bin/app.ts'],
    inputs: INPUTS,
    bundling,
    context: { ...context, stage },
    // `npm run check` validates the templates; here that would make every first start slower.
    environment: { CDK_VALIDATION: 'false' },
  });
