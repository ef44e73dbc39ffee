/** The local cloud cannot do what a template or a caller asks of it. */
export class LocalCloudError extends Error {
  override readonly name = 'LocalCloudError';
}
