import * as v from 'valibot';
import { PROVIDERS } from '../../config/providers.ts';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import type { Cloud } from '../cloud/index.ts';

const ratesSchema = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.number()));
const functionSchema = v.object({
  // A worker's, which has the bursts as well: the others know the rates at which work goes on.
  Environment: v.object({ Variables: v.object({ PROVIDER_RATES: v.string(), PROVIDER_BURSTS: v.string() }) }),
});

/** The providers with the rates that the stage sets, which the functions know from their variables. */
export function providersOfStage(
  cloud: Pick<Cloud, 'byType'>,
  variables: Readonly<Record<string, string>> = {},
): ProviderConfig[] {
  const declared = cloud
    .byType('AWS::Lambda::Function')
    .map(({ properties }) => v.safeParse(functionSchema, properties))
    .find(({ success }) => success);
  const text =
    variables['PROVIDER_RATES'] ??
    (declared?.success === true ? declared.output.Environment.Variables.PROVIDER_RATES : '{}');
  const rates = v.parse(ratesSchema, text);
  return PROVIDERS.map((provider) => ({
    ...provider,
    ratePerSecond: rates[provider.name] ?? provider.ratePerSecond,
  }));
}
