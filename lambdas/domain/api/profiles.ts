import type { ProfileStore, StoredProfile } from '../profiles/ports.ts';
import { ProfileError, resolveProfile, type Profile, type ResolvedProfile } from '../profiles/profile.ts';
import { profileSchema } from '../profiles/profile.ts';
import type { AcceptedSchemas } from '../submissions/schemas.ts';
import type { Clock } from '../time.ts';
import { parseBody, parseQuery, pointerTo } from './input.ts';
import { invalidPart, notFound, ProblemError } from './problems.ts';
import type { Answer, ApiRequest } from './request.ts';
import { noParametersSchema, PROFILE_NAME, PROFILE_REFERENCE, type ProfileView } from './schemas.ts';

/** Profiles that a tenant may have. */
const MAX_PROFILES = 100;

export interface ReadProfilesDeps {
  profiles: ProfileStore;
}

export interface WriteProfilesDeps extends ReadProfilesDeps {
  schemas: AcceptedSchemas;
  clock: Clock;
}

/** PUT /v1/profiles/{name}: a new version, unless the newest one says the same. */
export const putProfile =
  ({ profiles, schemas, clock }: WriteProfilesDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const name = nameOf(request);
    const profile = parseBody(profileSchema, request.body);
    resolveFor(schemas, profile, []);
    const known = await profiles.list(tenantId);
    if (known.length >= MAX_PROFILES && known.every((other) => other.name !== name)) {
      const detail = `A tenant has at most ${MAX_PROFILES} profiles. Delete one that is not used.`;
      throw new ProblemError('too_many_profiles', detail);
    }
    return { status: 200, body: viewOf(await profiles.put(tenantId, name, profile, clock.now())) };
  };

/** GET /v1/profiles/{name}: the newest version, or the one that the name ends with. */
export const getProfile =
  ({ profiles }: ReadProfilesDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const found = await findProfile(profiles, tenantId, request.path['name'] ?? '');
    if (found === undefined) throw notFound();
    return { status: 200, body: viewOf(found) };
  };

/** GET /v1/profiles */
export const listProfiles =
  ({ profiles }: ReadProfilesDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const items = (await profiles.list(tenantId)).map(({ name, version, updatedAtMs }) => ({
      name,
      version,
      updatedAt: new Date(updatedAtMs).toISOString(),
    }));
    return { status: 200, body: { items } };
  };

/** DELETE /v1/profiles/{name}: submissions that were accepted with it keep what it said. */
export const deleteProfile =
  ({ profiles }: ReadProfilesDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const name = nameOf(request);
    const last = await profiles.get(tenantId, name);
    if (last === undefined || !(await profiles.remove(tenantId, name))) throw notFound();
    return { status: 200, body: viewOf(last) };
  };

function nameOf({ path }: ApiRequest): string {
  const { name = '' } = path;
  if (PROFILE_NAME.test(name)) return name;
  throw invalidPart({
    parameter: 'name',
    detail: 'name has 1 to 64 small letters, digits, hyphens, dots and underscores, and begins with a letter or digit.',
  });
}

async function findProfile(
  profiles: ProfileStore,
  tenantId: string,
  reference: string,
): Promise<StoredProfile | undefined> {
  const [, name = '', version] = PROFILE_REFERENCE.exec(reference) ?? [];
  if (name === '') return undefined;
  return profiles.get(tenantId, name, version === undefined ? undefined : Number(version));
}

const viewOf = ({ name, version, profile, createdAtMs }: StoredProfile): ProfileView => ({
  name,
  version,
  createdAt: new Date(createdAtMs).toISOString(),
  profile,
});

/**
 * The profile that a request names or brings; an empty one without any.
 *
 * @throws ProblemError `profile_missing`
 */
export async function findGivenProfile(
  { profiles }: { profiles: ProfileStore },
  tenantId: string,
  asked: Profile | string | undefined,
): Promise<Profile> {
  if (typeof asked !== 'string') return asked ?? {};
  const stored = await findProfile(profiles, tenantId, asked);
  if (stored !== undefined) return stored.profile;
  throw new ProblemError('profile_missing', `There is no profile ${asked}. PUT /v1/profiles/{name} makes one.`);
}

/**
 * A profile as the record schema has it: what a submission is accepted under.
 *
 * @param place - Where the profile is in the body
 * @throws ProblemError `invalid_request`
 */
export function resolveFor(
  { recordSchema }: AcceptedSchemas,
  profile: Profile,
  place: readonly string[],
): ResolvedProfile {
  try {
    return resolveProfile(profile, recordSchema);
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    throw new ProblemError('invalid_request', 'The profile does not fit the fields of a record.', {
      errors: error.issues.map(({ path, detail }) => ({ pointer: pointerTo([...place, ...path]), detail })),
    });
  }
}
