import { isCallbackUrl } from '../../../lambdas/domain/api/callback-url.ts';
import { createTestApi } from '../../support/api/api.ts';

test.each([
  'https://hooks.example.com/sluice?token=abc',
  'https://example.com:8443/',
  'https://bücher.example/',
  'https://169.254.example.com/',
])('%s may be called', (url) => {
  expect(isCallbackUrl(url)).toBe(true);
});

test.each([
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'javascript:alert(1)',
  '//hooks.example.com/',
  'hooks.example.com',
  '',
  'https://',
  'https://user:secret@hooks.example.com/',
  'https://hooks.example.com/#part',
  'https://localhost/',
  'https://localhost./',
  'https://api.localhost/',
  'https://intranet/',
  'https://db.internal/',
  'https://db.internal./',
  'https://printer.local/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://10.0.0.1/',
  'https://8.8.8.8/',
  'https://[::1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://１２７.0.0.1/',
])('%s may not', (url) => {
  expect(isCallbackUrl(url)).toBe(false);
});

test('a submission with such a URL is refused, and the URL is not repeated', async () => {
  const api = createTestApi();
  const callbackUrl = 'https://user:MARKER@hooks.example.com/';
  const { status, text, body } = await api.call('POST', '/v1/submissions', {
    body: { uploadId: await api.upload(), callbackUrl },
  });
  expect(status).toBe(400);
  expect(body.errors).toEqual([{ pointer: '/callbackUrl', detail: expect.stringContaining('public host') }]);
  expect(text).not.toContain('MARKER');
});
