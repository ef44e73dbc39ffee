/** What the command line takes from the environment, beside what the AWS SDK reads itself (credentials, region, endpoint). */
export interface CliEnvironment {
  /** Name of the tenants table: an output of the stage's data stack. */
  readonly tenantsTable: string | undefined;
}

/** Reads the variables; an empty one counts as absent. */
export const readCliEnvironment = (
  source: Readonly<Record<string, string | undefined>> = process.env,
): CliEnvironment => ({
  tenantsTable: source['TENANTS_TABLE'] || undefined,
});
