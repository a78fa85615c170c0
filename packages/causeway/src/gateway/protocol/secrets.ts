import { CausewayError } from '@causeway/base/error/causeway-error';

const shortestSecret = 12;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The secrets that tokens may be signed with, as base64 text, one per line. Several are accepted at once, so
 * that a new secret can be added everywhere before the old one is removed.
 */
export function parseSecrets(text: string): Uint8Array[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0) {
    throw new CausewayError('invalid', 'there is no shared secret', {
      hint: 'Create one with: head -c 32 /dev/urandom | base64',
    });
  }
  return lines.map((line, index) => {
    if (!base64.test(line)) {
      throw new CausewayError('invalid', `the shared secret ${index + 1} is not base64`);
    }
    const bytes = Buffer.from(line, 'base64');
    if (bytes.length < shortestSecret) {
      throw new CausewayError(
        'invalid',
        `the shared secret ${index + 1} has ${bytes.length} bytes, at least ${shortestSecret} are needed`,
      );
    }
    return bytes;
  });
}
