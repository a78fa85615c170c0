import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePrefix } from '@causeway/base/address/prefix';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import { OpenStackDriver } from './openstack-driver.ts';

const { signal } = new AbortController();
const subnet = { id: 'n', networkId: 'net', cidr: parsePrefix('10.0.0.0/24') } as Subnet;

async function* each<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

test('lists the addresses of its own ledger in its own subnets only', async () => {
  const names = [
    'causeway-pool/one/s/10.0.0.1',
    'causeway-pool/two/s/10.0.0.2',
    'causeway-pool/one/gone/10.0.0.3',
    'causeway-pool/one/s/10.9.0.4',
    'causeway-pool/s/10.0.0.5',
    'web',
  ];
  const neutron = {
    floatingIps: { list: () => each(names.slice(0, 2).map((description) => ({ description }))) },
    ports: { list: () => each(names.map((name) => ({ name }))) },
  } as unknown as Neutron;
  const driver = new OpenStackDriver({ neutron, ledger: 'one', subnets: [subnet] });
  expect(await driver.list(signal)).toEqual([
    { site: 's', address: parseAddress('10.0.0.1') },
    { site: 'gone', address: parseAddress('10.0.0.3') },
  ]);
});
