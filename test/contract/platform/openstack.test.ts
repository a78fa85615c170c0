import { beforeAll, expect, test } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { OpenStackDriver } from '../../../packages/causeway/src/ipam/platform/openstack-driver.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import type { Subnet } from '../../../packages/openstack/src/neutron/resources.ts';
import { startServer } from '../ipam/server-under-test.ts';
import { describeEveryCloud, uniqueName } from '../openstack/clouds.ts';
import { waitFor } from '../../services/wait-for.ts';
import { platformContract } from './contract.ts';

const signal = new AbortController().signal;
const here = { site: 'edge', cluster: 'blue' };

await describeEveryCloud('the OpenStack platform', {}, (cloud) => {
  let neutron: Neutron;
  let subnet: Subnet;
  let floatingNetwork = '';
  const driver = () =>
    new OpenStackDriver({
      neutron,
      ledger: 'one',
      subnets: [subnet],
      floating: { networkId: floatingNetwork },
    });

  beforeAll(async () => {
    neutron = new Neutron(cloud().open('demo').session());
    const network = await neutron.networks.create({ name: uniqueName('pool') }, { signal });
    subnet = await neutron.subnets.create(
      { name: uniqueName('pool'), networkId: network.id, cidr: parsePrefix('10.78.0.0/24') },
      { signal },
    );
    const admin = new Neutron(cloud().open('admin').session());
    for await (const external of admin.networks.list({ external: true }, { signal })) {
      floatingNetwork = external.id;
    }
    const router = await neutron.routers.create(
      { name: uniqueName('pool'), externalNetworkId: floatingNetwork },
      { signal },
    );
    await neutron.addRouterInterface(router.id, subnet.id, { signal });
  });

  async function portsWith(address: string): Promise<number> {
    let count = 0;
    for await (const port of neutron.ports.list({ networkId: subnet.networkId }, { signal })) {
      if (port.fixedIps.some((fixed) => fixed.address === address)) count += 1;
    }
    return count;
  }

  platformContract({
    driver,
    leavesTraces: true,
    addresses: [parseAddress('10.78.0.201'), parseAddress('10.78.0.202')],
  });

  test('a port without its floating IP, and a floating IP without its port, are repaired', async () => {
    const key = { site: 'contract', address: parseAddress('10.78.0.203') };
    const reached = await driver().ensure(key, 'a Service', signal);
    for await (const port of neutron.ports.list({ networkId: subnet.networkId }, { signal })) {
      const isIt = port.fixedIps.some(({ address }) => address === key.address);
      if (isIt) await neutron.ports.delete(port.id, { signal });
    }
    expect(await driver().ensure(key, 'a Service', signal)).toBe(reached);
    expect(await portsWith(key.address)).toBe(1);
    await driver().delete(key, signal);
  });

  test('the server creates ports and floating IPs for Services, and sweeps those of a removed cluster', async () => {
    const server = await startServer({
      platforms: new Map([['cloud', driver()]]),
      sweepEveryMs: 100,
    });
    try {
      const call = server.operator.call.bind(server.operator);
      const times = { quarantineMs: 0 };
      await call('setSite', { params: { site: 'edge' }, body: times }, signal);
      const pool = { addresses: ['10.78.0.210-10.78.0.219'], platform: 'cloud' };
      await call('setPool', { params: { site: 'edge', pool: 'p' }, body: pool }, signal);
      const body = { cluster: 'blue' };
      const { token } = await call('createCluster', { params: { site: 'edge' }, body }, signal);
      const blue = server.client(token);
      const ensure = (uid: string, more: object = {}) =>
        blue.call(
          'ensureLoadBalancer',
          { params: { ...here, uid }, body: { namespace: 'shop', name: uid, ...more } },
          signal,
        );
      const answer = await ensure('web', { sharingKey: 'k', ports: ['TCP/80'] });
      if (answer.state !== 'held') throw new Error('it waits');
      const [{ address, publicAddress } = { address: '' }] = answer.addresses;
      expect(publicAddress).toBeDefined();
      expect(publicAddress).not.toBe(address);
      expect(await portsWith(address)).toBe(1);
      const joined = await ensure('also', { sharingKey: 'k', ports: ['TCP/443'] });
      expect(joined).toMatchObject({ addresses: [{ address, publicAddress }] });
      const query = { fencingToken: answer.fencingToken, withdrawn: 'true' } as const;
      const gone = { params: { ...here, uid: 'web' }, query };
      await blue.call('deleteLoadBalancer', gone, signal);
      expect(await portsWith(address)).toBe(1);
      await call('removeCluster', { params: here }, signal);
      await waitFor('the sweep', async () => (await portsWith(address)) === 0);
    } finally {
      await server.stop();
    }
  });
});
