import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import { companyRegister } from './company-register.ts';
import { companySearch } from './company-search.ts';
import { creditReport } from './credit-report.ts';
import { crmAccounts } from './crm-accounts.ts';
import { domainRegistry } from './domain-registry.ts';
import { emailCheck } from './email-check.ts';
import { geocoder } from './geocoder.ts';
import { taxCheck } from './tax-check.ts';

/** Providers of different kinds, modelled on the documentation of public ones: to copy from, see docs/providers.md. */
export const EXAMPLES: readonly ProviderConfig[] = [
  companyRegister,
  companySearch,
  creditReport,
  crmAccounts,
  domainRegistry,
  emailCheck,
  geocoder,
  taxCheck,
];
