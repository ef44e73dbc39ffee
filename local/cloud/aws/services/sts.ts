import { randomUUID } from 'node:crypto';
import type { Call } from '../front/call.ts';
import { AwsError, element, type Reply } from '../front/errors.ts';
import type { Service } from '../front/service.ts';

/** STS: tells callers who they are, which needs no permission. */
export class StsService implements Service {
  readonly name = 'sts';
  readonly buffersBody = true;
  readonly #accountId: string;

  constructor(accountId: string) {
    this.#accountId = accountId;
  }

  async handle(call: Call): Promise<Reply> {
    call.operation = new URLSearchParams(call.body.toString()).get('Action') ?? '';
    if (call.operation !== 'GetCallerIdentity') {
      throw new AwsError(400, 'InvalidAction', `The local cloud does not support sts:${call.operation}.`);
    }
    if (call.principal === undefined)
      throw new AwsError(403, 'MissingAuthenticationToken', 'The request is not signed.');
    const arn = call.principal.arn;
    const result = [element('Arn', arn), element('UserId', arn.split('/').pop()), element('Account', this.#accountId)];
    const body = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>${result.join('')}</GetCallerIdentityResult><ResponseMetadata>${element('RequestId', randomUUID())}</ResponseMetadata></GetCallerIdentityResponse>`;
    return { status: 200, headers: { 'content-type': 'text/xml' }, body };
  }
}
