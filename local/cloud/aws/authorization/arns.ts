/** The ARN that policies, keys and owners are kept under: without object key, index, version or alias. */
export function baseArn(resource: string): string {
  const parts = resource.split(':');
  if (parts[2] === 's3') return resource.split('/')[0] ?? resource;
  if (parts[2] === 'dynamodb') return resource.split('/').slice(0, 2).join('/');
  if (parts[2] === 'lambda' && parts[5] === 'function') return parts.slice(0, 7).join(':');
  return resource;
}
