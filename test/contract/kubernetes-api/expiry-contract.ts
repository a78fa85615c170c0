import { describe, expect, test } from 'vitest';
import type { ServerUnderTest } from './server-under-test.ts';

/** Answers for versions that the server has dropped. */
export function expiryContract(server: () => ServerUnderTest): void {
  describe('expiry', () => {
    test('a watch reports it within the stream, a page and an exact list with their status', async () => {
      const under = server();
      const path = '/api/v1/namespaces/default/configmaps';
      for (const name of ['a', 'b', 'c']) {
        await under.call('POST', path, { body: { metadata: { name } } });
      }
      const { body } = await under.call('GET', `${path}?limit=1`);
      const { resourceVersion, continue: token } = (
        body as { metadata: { resourceVersion: string; continue: string } }
      ).metadata;
      await under.call('DELETE', `${path}/a`);
      await under.dropHistory();

      const watch = await under.watch(`${path}?watch=true&resourceVersion=${resourceVersion}`);
      expect(watch.status).toBe(200);
      const event = await watch.next();
      expect(event?.type).toBe('ERROR');
      expect(event?.object).toMatchObject({
        kind: 'Status',
        status: 'Failure',
        reason: 'Expired',
        code: 410,
        message: expect.stringContaining('too old resource version') as string,
      });
      expect(await watch.next()).toBeUndefined();

      const expired = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 };
      const next = await under.call('GET', `${path}?limit=1&continue=${encodeURIComponent(token)}`);
      expect(next.status).toBe(410);
      expect(next.body).toMatchObject({
        ...expired,
        message: expect.stringContaining('The provided continue parameter is too old') as string,
      });
      const exact = await under.call(
        'GET',
        `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
      );
      expect(exact.status).toBe(410);
      expect(exact.body).toMatchObject(expired);
      expect((await under.call('GET', path)).status).toBe(200);
    });
  });
}
