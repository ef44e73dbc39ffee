import type { Call } from './call.ts';
import type { Reply } from './errors.ts';

/** One emulated AWS service behind the front. */
export interface Service {
  /** Name in the credential scope of a signature. */
  readonly name: string;
  /** Whether the body is read into memory before `handle`; otherwise the service streams it. */
  readonly buffersBody: boolean;
  /**
   * Answers a call whose caller is known.
   *
   * @returns the answer, or undefined when the service has written it to `call.response` itself
   * @throws AwsError for everything that the service refuses
   */
  handle(call: Call): Promise<Reply | undefined>;
  /** Answers a browser's preflight; only S3 does. */
  preflight?(call: Call): Reply;
}
