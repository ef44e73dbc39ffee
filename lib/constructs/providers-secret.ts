import { SecretValue, type RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

export interface ProvidersSecretProps {
  readonly removalPolicy: RemovalPolicy;
  /** Absent: the service's own key. */
  readonly encryptionKey: IKey | undefined;
  /** Of stand-ins, as JSON: they open nothing, so that they may stand in the template. Absent: people fill in the providers' own. */
  readonly standInCredentials?: string | undefined;
}

/**
 * The credentials of the providers: one JSON object, key = provider name. It is created without credentials (records wait) and filled
 * by hand: `aws secretsmanager put-secret-value --secret-id … --secret-string '{"company":"…","geo":"…"}'`.
 */
export class ProvidersSecret extends Construct {
  readonly secret: secretsmanager.Secret;

  constructor(
    scope: Construct,
    id: string,
    { removalPolicy, encryptionKey, standInCredentials }: ProvidersSecretProps,
  ) {
    super(scope, id);
    this.secret = new secretsmanager.Secret(this, 'Secret', {
      description: 'Credentials of the enrichment providers, a JSON object by provider name',
      ...(standInCredentials === undefined
        ? // This must never change: CloudFormation would generate the value anew and lose the credentials.
          { generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'placeholder' } }
        : { secretStringValue: SecretValue.unsafePlainText(standInCredentials) }),
      removalPolicy,
      ...(encryptionKey ? { encryptionKey } : {}),
    });
  }
}
