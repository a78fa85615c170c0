import { Agent, request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { ServerUnderTest } from './server-under-test.ts';

/** Which clients have access, and the answers to others. */
export function accessContract(server: () => ServerUnderTest): void {
  const ask = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    identity: { readonly cert?: string; readonly key?: string } = {},
  ) => {
    const { url, ca } = server();
    const dispatcher = new Agent({ connect: { ca, ...identity } });
    try {
      const answer = await request(`${url}${path}`, { dispatcher, headers });
      return { status: answer.statusCode, body: await answer.body.text() };
    } finally {
      await dispatcher.close();
    }
  };

  describe('access', () => {
    test('an unknown token is rejected', async () => {
      const answer = await ask('/api/v1/namespaces', { authorization: 'Bearer nobody' });
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.body)).toMatchObject({ reason: 'Unauthorized', code: 401 });
    });

    test('without credentials only health and version are shown', async () => {
      expect(await ask('/readyz', {})).toEqual({ status: 200, body: 'ok' });
      expect(await ask('/livez', {})).toEqual({ status: 200, body: 'ok' });
      expect(JSON.parse((await ask('/version', {})).body)).toMatchObject({
        major: '1',
        minor: '36',
      });
      const refused = await ask('/api/v1/namespaces', {});
      expect(refused.status).toBe(403);
      expect(JSON.parse(refused.body)).toMatchObject({
        reason: 'Forbidden',
        message: expect.stringContaining('User "system:anonymous" cannot') as string,
      });
    });

    test('a client certificate works like a token', async () => {
      const answer = await ask('/api/v1/namespaces', {}, server().adminCertificate);
      expect(answer.status).toBe(200);
    });
  });
}
