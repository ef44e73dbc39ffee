import { Validations, type App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { OPERATIONS } from '../lambdas/domain/api/operations.ts';
import type { Sluice } from './sluice.ts';

/** A finding of the rules that is accepted: where, and why. */
export interface Suppression {
  readonly id: string;
  readonly reason: string;
  readonly stack: keyof Sluice;
  /** Constructs below the stack, with everything in them. What a stage does not have is passed over. */
  readonly paths: readonly string[];
}

const METHODS = 'Api/RestApi/Default';

/** Every accepted finding there is. A test fails for one that matches nothing any more. */
export function suppressions({ data }: Sluice): readonly Suppression[] {
  const bucket = exportName(data, data.stores.bucket.bucketArn);
  return [
    {
      id: 'AwsSolutions-SMG4',
      reason:
        'The credentials are issued by third parties; only they can rotate them. The functions notice a new value by themselves.',
      stack: 'data',
      paths: ['Providers/Secret'],
    },
    {
      id: `AwsSolutions-IAM5[Resource::${bucket}/uploads/*]`,
      reason: 'One prefix of one bucket: what any customer uploaded. Keys are made by us and named by a submission.',
      stack: 'pipeline',
      paths: [
        'FanOut/FanOut',
        'Finalization/Finalizer',
        'Reconciliation/Reconciler',
        'Preparation/Prepare',
        'Previews/Preview',
        'Redrive/Redrive',
        'Status/Status',
        'Submission/Submit',
      ],
    },
    {
      id: `AwsSolutions-IAM5[Resource::${bucket}/prepared/*]`,
      reason:
        'One prefix of one bucket: what was unpacked from any upload. Keys are made by us and named by a submission.',
      stack: 'pipeline',
      paths: [
        'FanOut/FanOut',
        'Finalization/Finalizer',
        'Preparation/Prepare',
        'Reconciliation/Reconciler',
        'Redrive/Redrive',
        'Status/Status',
      ],
    },
    {
      id: `AwsSolutions-IAM5[Resource::${bucket}/results/*]`,
      reason:
        'One prefix of one bucket: the results of any submission. The status function signs only those of the tenant that asks.',
      stack: 'pipeline',
      paths: ['Finalization/Finalizer', 'Status/Status'],
    },
    {
      id: `AwsSolutions-IAM5[Resource::${bucket}/set-apart/*]`,
      reason:
        'One prefix of one bucket: dead letters that nobody can read, which are written and never read by a function.',
      stack: 'pipeline',
      paths: ['Reconciliation/Reconciler', 'Redrive/Redrive'],
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason:
        'The role of API Gateway itself, which the account has once for all APIs; AWS maintains the policy for this purpose.',
      stack: 'pipeline',
      paths: ['Api/RestApi/CloudWatchRole'],
    },
    {
      id: 'AwsSolutions-APIG2',
      reason: 'The functions validate every request, with the schemas that the API description is generated from.',
      stack: 'pipeline',
      paths: ['Api/RestApi'],
    },
    {
      id: 'AwsSolutions-APIG3',
      reason: 'A web ACL is a choice and a cost of whoever deploys: api.webAclArn of the stage associates one.',
      stack: 'pipeline',
      paths: ['Api/RestApi'],
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs would hold request parameters; the access log and the logs of the functions tell what is needed.',
      stack: 'pipeline',
      paths: ['Api/RestApi'],
    },
    {
      id: 'AwsSolutions-APIG4',
      reason: 'Everybody may read the API description, and browsers ask with OPTIONS without a key, before they call.',
      stack: 'pipeline',
      paths: [
        ...['GET', 'ANY'].map((method) => `${METHODS}${OPERATIONS.getDescription.path}/${method}`),
        ...Object.values(OPERATIONS).map(({ path }) => `${METHODS}${path}/OPTIONS`),
      ],
    },
    {
      id: 'AwsSolutions-COG4',
      reason: 'Callers are programs with API keys of ours; there are no users to sign in.',
      stack: 'pipeline',
      paths: ['Api/RestApi'],
    },
  ];
}

/** Has the app checked against the AWS Solutions rules when it is synthesized; what is not accepted here fails it. */
export function checkAgainstRules(app: App, sluice: Sluice): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks());
  for (const { id, reason, stack, paths } of suppressions(sluice)) {
    for (const path of new Set(paths)) {
      const construct = find(sluice[stack], path);
      if (construct) Validations.of(construct).acknowledge({ id, reason });
    }
  }
}

/** The construct at a path below another one. */
const find = (scope: IConstruct, path: string): IConstruct | undefined =>
  path.split('/').reduce<IConstruct | undefined>((parent, id) => parent?.node.tryFindChild(id), scope);

/** Name under which a stack exports a value: what the rules see of it in another stack. */
function exportName(stack: Sluice['data'], value: string): string {
  const imported: unknown = stack.resolve(stack.exportValue(value));
  if (typeof imported === 'object' && imported !== null && 'Fn::ImportValue' in imported) {
    return String(imported['Fn::ImportValue']);
  }
  throw new Error(`Expected an import of ${value}, found ${JSON.stringify(imported)}.`);
}
