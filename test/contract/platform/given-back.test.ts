import { expect, test } from 'vitest';
import type { PlatformDriver } from '../../../packages/causeway/src/ipam/platform/platform-driver.ts';
import { never as signal, startServer } from '../ipam/server-under-test.ts';

const here = { site: 'edge', cluster: 'blue', uid: 'web' };

test('releases what a Service does not keep on its platform, and nothing when that is rejected', async () => {
  const made = new Set<string>();
  const platform: PlatformDriver = {
    ensure: ({ address }) => {
      made.add(address);
      return Promise.resolve(undefined);
    },
    delete: ({ address }) => Promise.resolve(void made.delete(address)),
    list: () => Promise.resolve([]),
  };
  const server = await startServer({ platforms: new Map([['cloud', platform]]) });
  try {
    const call = server.operator.call.bind(server.operator);
    const params = { site: 'edge' };
    await call('setSite', { params, body: {} }, signal);
    const addresses = ['192.0.2.1', '2001:db8::1'];
    const pool = { addresses, platform: 'cloud' };
    await call('setPool', { params: { ...params, pool: 'p' }, body: pool }, signal);
    const { token } = await call('createCluster', { params, body: { cluster: 'blue' } }, signal);
    const blue = server.client(token);
    const request = { namespace: 'shop', name: 'web', families: [4, 6] as (4 | 6)[] };
    const answer = await blue.call('ensureLoadBalancer', { params: here, body: request }, signal);
    if (answer.state !== 'held') throw new Error('it waits');
    const { fencingToken } = answer;
    expect([...made].sort()).toEqual(addresses);
    const keep = (kept: string[], by = fencingToken) =>
      blue.call(
        'updateLoadBalancer',
        { params: here, body: { fencingToken: by, addresses: kept } },
        signal,
      );
    await expect(keep(['192.0.2.1'], fencingToken - 1)).rejects.toMatchObject({
      reason: 'stale-fencing-token',
    });
    await expect(keep(['192.0.2.9'])).rejects.toMatchObject({ code: 'invalid' });
    expect([...made].sort()).toEqual(addresses);
    expect(await keep(['192.0.2.1'])).toMatchObject({ addresses: [{ address: '192.0.2.1' }] });
    expect([...made]).toEqual(['192.0.2.1']);
    // A repeat after a lost answer gives the same.
    expect(await keep(['192.0.2.1'])).toMatchObject({ fencingToken, addresses: [{ family: 4 }] });
    // The control plane's address belongs to no Service.
    const mine = {
      params: { ...here, uid: 'cp' },
      body: { fencingToken: 1, addresses: ['192.0.2.1'] },
    };
    await expect(blue.call('updateLoadBalancer', mine, signal)).rejects.toMatchObject({
      code: 'not-found',
    });
  } finally {
    await server.stop();
  }
});
