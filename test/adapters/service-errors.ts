/** An error as the SDK throws it for an answer of a service. */
export const serviceError = (name: string, status: number, members: Record<string, unknown> = {}): Error =>
  Object.assign(new Error(`${name} by the service`), {
    name,
    $fault: status < 500 ? 'client' : 'server',
    $metadata: { httpStatusCode: status },
    ...members,
  });

/** An error as Node throws it for a broken connection. */
export const connectionError = (code: string): Error =>
  Object.assign(new Error(`read ${code}`), { code, syscall: 'read' });
