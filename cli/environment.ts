/** What the command line takes from the environment, beside what the AWS SDK reads itself (credentials, region, endpoint). */
export interface CliEnvironment {
  /** Names of tables: outputs of the stage's data stack. */
  readonly tenantsTable: string | undefined;
  readonly submissionsTable: string | undefined;
  readonly recordsTable: string | undefined;
  /** Name of the redrive function: an output of the stage's pipeline stack. */
  readonly redriveFunction: string | undefined;
}

/** Reads the variables; an empty one counts as absent. */
export const readCliEnvironment = (
  source: Readonly<Record<string, string | undefined>> = process.env,
): CliEnvironment => ({
  tenantsTable: source['TENANTS_TABLE'] || undefined,
  submissionsTable: source['SUBMISSIONS_TABLE'] || undefined,
  recordsTable: source['RECORDS_TABLE'] || undefined,
  redriveFunction: source['REDRIVE_FUNCTION'] || undefined,
});
