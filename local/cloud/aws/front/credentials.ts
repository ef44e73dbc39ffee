import { createHash, randomBytes } from 'node:crypto';
import type { IssuedCredentials } from '../../contract.ts';
import { LocalCloudError } from '../../errors.ts';
import type { PolicySet } from '../authorization/policies.ts';
import { operatorPrincipal, type Principal, roleSession } from '../authorization/principals.ts';

/** What the access keys issued here begin with; a key like this that is not known comes from another local cloud. */
const ISSUED_PREFIX = 'ASIALOCAL';

interface Owner {
  readonly principal: Principal;
  /** Undefined where the secret is not known, so no signature can be checked. */
  readonly issued: IssuedCredentials | undefined;
}

/** Issues the credentials of functions, and knows the caller by its access key. */
export class Credentials {
  readonly operator: IssuedCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  readonly #policies: PolicySet;
  readonly #accountId: string;
  readonly #bySession = new Map<string, IssuedCredentials>();
  readonly #byAccessKey = new Map<string, Owner>();
  readonly #operator: Principal;

  constructor(policies: PolicySet, accountId: string) {
    this.#policies = policies;
    this.#accountId = accountId;
    this.#operator = operatorPrincipal(accountId);
  }

  /** @throws LocalCloudError when no template declares the role */
  forFunction(roleArn: string, functionName: string): IssuedCredentials {
    const session = `${roleArn}\u0000${functionName}`;
    const known = this.#bySession.get(session);
    if (known !== undefined) return known;
    const principal = this.sessionOf(roleArn, functionName);
    const id = createHash('sha256').update(session).update(randomBytes(16)).digest('hex').toUpperCase();
    const issued: IssuedCredentials = {
      accessKeyId: `${ISSUED_PREFIX}${id.slice(0, 11)}`,
      secretAccessKey: randomBytes(30).toString('base64url'),
      sessionToken: randomBytes(60).toString('base64url'),
    };
    this.#bySession.set(session, issued);
    this.#byAccessKey.set(issued.accessKeyId, { principal, issued });
    return issued;
  }

  sessionOf(roleArn: string, functionName: string | undefined): Principal {
    const role = this.#policies.roles.get(roleArn);
    if (role !== undefined) return roleSession(role, functionName, this.#accountId);
    throw new LocalCloudError(`No template declares the role ${roleArn}.`);
  }

  /**
   * Who owns an access key. Every key that was not issued here is the operator's, so that a plain AWS CLI works with
   * whatever credentials it has.
   *
   * @returns undefined for a key that another local cloud issued
   */
  ownerOf(accessKeyId: string): Owner | undefined {
    const known = this.#byAccessKey.get(accessKeyId);
    if (known !== undefined) return known;
    return accessKeyId.startsWith(ISSUED_PREFIX) ? undefined : { principal: this.#operator, issued: undefined };
  }
}
