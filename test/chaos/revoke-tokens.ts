import { request } from 'undici';
import { accounts } from '../services/openstack/seed.ts';

/** Revokes every token of a user, as when an administrator disables the user for a moment. */
export async function revokeTokensOf(user: string, authUrl: string): Promise<void> {
  const token = await administratorToken(authUrl);
  const call = async (method: 'GET' | 'PATCH', path: string, body?: object) => {
    const answer = await request(`${authUrl}${path}`, {
      method,
      headers: { 'x-auth-token': token, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as { users?: { id: string }[] };
  };
  const { users = [] } = await call('GET', `/users?name=${user}&domain_id=default`);
  for (const { id } of users) {
    await call('PATCH', `/users/${id}`, { user: { enabled: false } });
    await call('PATCH', `/users/${id}`, { user: { enabled: true } });
  }
}

async function administratorToken(authUrl: string): Promise<string> {
  const { user: name, password, project } = accounts.admin;
  const domain = { id: 'default' };
  const identity = { methods: ['password'], password: { user: { name, password, domain } } };
  const auth = { identity, scope: { project: { name: project, domain } } };
  const answer = await request(`${authUrl}/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth }),
  });
  await answer.body.dump();
  const token = answer.headers['x-subject-token'];
  if (typeof token !== 'string') throw new Error(`Keystone answered ${answer.statusCode}`);
  return token;
}
