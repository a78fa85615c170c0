import { afterEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { parsePrefix } from '@causeway/base/address/prefix';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

// Dual-stack Services: the second address is an additional VIP.

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
let secondSubnet: string;

async function begin(octaviaMinorVersion = 26): Promise<void> {
  ({ cloud, lab, stop } = await openEmbeddedLab({ octaviaMinorVersion }));
  const { networkId } = await lab.neutron.subnets.get(lab.privateSubnet, { signal: never });
  const cidr = parsePrefix('fd00:10::/64');
  const spec = { name: 'private-v6', networkId, cidr };
  secondSubnet = (await lab.neutron.subnets.create(spec, { signal: never })).id;
}

afterEach(() => stop());

const dual = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] } as const;

async function serve(change: Parameters<typeof newService>[1]): Promise<void> {
  await lab.client.create(services, newService('web', change));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await untilServed(lab, 'web');
}

const addresses = async () =>
  (await lab.service('web'))?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);

test('a dual-stack Service has an address of each family, and both are released with it', async () => {
  await begin();
  await lab.start({ subnets: [lab.privateSubnet, secondSubnet] });
  await serve(dual);
  const [balancer] = await lab.balancers();
  const [second, ...others] = balancer?.additionalVips ?? [];
  expect(others).toEqual([]);
  expect(second).toMatchObject({
    subnetId: secondSubnet,
    address: expect.stringMatching(/^fd00:10::/),
  });
  const [floating] = await lab.floatingIps();
  expect(await addresses()).toEqual([floating?.address, second?.address]);
  await lab.stop();
  // A restart writes nothing.
  const written: string[] = [];
  cloud.onRequest(({ method, path }) => {
    if (method !== 'GET' && !path.endsWith('/tokens')) written.push(`${method} ${path}`);
  });
  await lab.start({ subnets: [lab.privateSubnet, secondSubnet] });
  await lab.client.create(services, newService('last'));
  await until(async () => expect(await lab.klb('last')).toBeDefined());
  expect(written).toEqual([]);
  for (const name of ['web', 'last']) {
    await lab.client.delete(services, { namespace: 'default', name });
    await until(async () => expect(await lab.service(name)).toBeUndefined());
  }
  const own = cloud.neutron.ports.all().filter((port) => port.device_owner === 'Octavia');
  expect(own).toEqual([]);
});

test('cluster addresses of both families can be the VIPs', async () => {
  await begin();
  const [first, second] = [await lab.serviceSubnet(), await serviceSubnet6()];
  await lab.start({ subnets: [first, second], vip: 'ClusterIP', clusterIP: 'all' });
  await serve({ ...dual, type: 'ClusterIP' });
  const { clusterIPs } = (await lab.service('web'))?.spec ?? {};
  const [balancer] = await lab.balancers();
  const others = balancer?.additionalVips.map(({ address }) => address) ?? [];
  expect([balancer?.vipAddress, ...others]).toEqual(clusterIPs);
});

async function serviceSubnet6(): Promise<string> {
  const { networkId } = await lab.neutron.subnets.get(lab.privateSubnet, { signal: never });
  const cidr = parsePrefix('fd00:96::/112');
  const spec = { name: 'services-v6', networkId, cidr };
  return (await lab.neutron.subnets.create(spec, { signal: never })).id;
}

test('serves the first family with an Event where the API has no additional VIPs', async () => {
  await begin(25);
  await lab.start({ subnets: [lab.privateSubnet, secondSubnet] });
  await serve(dual);
  expect(await addresses()).toHaveLength(1);
  expect(lab.events.join('\n')).toMatch(/web Warning OptionUnsupported: .*a second address/);
});

test("sources of the other family are ignored and don't block the Service", async () => {
  await begin();
  await lab.start({ subnets: [lab.privateSubnet, secondSubnet] });
  await serve({ ...dual, loadBalancerSourceRanges: ['192.0.2.0/24', '2001:db8::/32'] });
  const [balancer] = await lab.balancers();
  expect(balancer?.listeners.map(({ allowedCidrs }) => allowedCidrs)).toEqual([['192.0.2.0/24']]);
  expect(lab.events.join('\n')).toMatch(/SourceRangeIgnored: .*2001:db8::\/32/);
});

test('an IPv6 Service without allowed sources is closed', async () => {
  await begin();
  await lab.start({ subnets: [lab.privateSubnet, secondSubnet] });
  const change = { ipFamilies: ['IPv6'], loadBalancerSourceRanges: ['192.0.2.0/24'] } as const;
  await serve({ ...change, ipFamilyPolicy: 'SingleStack' });
  const [balancer] = await lab.balancers();
  expect(balancer?.vipAddress).toMatch(/^fd00:10::/);
  expect(balancer?.listeners.map(({ allowedCidrs }) => allowedCidrs)).toEqual([['::1/128']]);
});
