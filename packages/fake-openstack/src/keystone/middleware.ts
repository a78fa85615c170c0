import type { Answer } from '../http/call.ts';
import type { Keystone } from './api.ts';

/** The answer of keystonemiddleware, which Neutron and Octavia share. */
export function unauthenticatedAnswer(keystone: Keystone): Answer {
  const url = keystone.catalog.services.find(({ type }) => type === 'identity')?.endpoints[0]?.url;
  return {
    status: 401,
    headers: { 'www-authenticate': `Keystone uri="${url?.replace(/\/v3$/, '') ?? ''}"` },
    body: {
      error: {
        code: 401,
        title: 'Unauthorized',
        message: 'The request you have made requires authentication.',
      },
    },
  };
}
