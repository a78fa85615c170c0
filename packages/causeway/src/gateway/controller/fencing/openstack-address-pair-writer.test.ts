import { expect, test } from 'vitest';
import { startMinimalCloud } from '../../../../../../test/openstack/minimal-cloud.ts';
import { parseAddress } from '@causeway/base/address/address';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import { OpenStackAddressPairWriter } from './openstack-address-pair-writer.ts';

const signal = new AbortController().signal;
const first = parseAddress('192.0.2.1');
const second = parseAddress('192.0.2.2');
const third = parseAddress('192.0.2.3');

/** A gateway's port in a Neutron that accepts a change only with the current revision. */
class GatewayPort {
  revision = 1;
  pairs: string[] = [];
  /** Simulates a change by another program right before the next change arrives. */
  forestall: (() => void) | undefined;

  answer(method: string, ifMatch: string | undefined, body: unknown) {
    if (method === 'PUT') {
      this.forestall?.();
      this.forestall = undefined;
      if (ifMatch !== `revision_number=${this.revision}`) return { status: 412, body: {} };
      const { port } = body as { port: { allowed_address_pairs: { ip_address: string }[] } };
      this.set(port.allowed_address_pairs.map(({ ip_address }) => ip_address));
    }
    const pairs = this.pairs.map((ip_address) => ({ ip_address }));
    const revision_number = this.revision;
    const port = { id: 'own', network_id: 'n', revision_number, allowed_address_pairs: pairs };
    return { status: 200, body: { port } };
  }

  set(pairs: string[]): void {
    this.pairs = pairs;
    this.revision += 1;
  }
}

async function start(own: GatewayPort, limit = 10) {
  const cloud = await startMinimalCloud(({ method, headers, body }) =>
    own.answer(method, headers['if-match'], body),
  );
  const pairWriter = new OpenStackAddressPairWriter({
    neutron: new Neutron(cloud.cloud.session()),
    mode: 'single',
    networks: [],
    limit,
    ports: new Map([['g1', 'own']]),
  });
  return { pairWriter, [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose]() };
}

test('keeps a pair that another program adds at the same time', async () => {
  const own = new GatewayPort();
  await using it = await start(own);
  own.forestall = () => own.set(['198.51.100.7']);
  await it.pairWriter.open('g1', [first], signal);
  expect(own.pairs).toEqual(['198.51.100.7', '192.0.2.1']);
  own.forestall = () => own.set([...own.pairs, '198.51.100.8']);
  await it.pairWriter.shut('g1', [first], signal);
  expect(own.pairs).toEqual(['198.51.100.7', '198.51.100.8']);
});

test('detects at the next inspection that a pair was removed', async () => {
  const own = new GatewayPort();
  await using it = await start(own);
  await it.pairWriter.open('g1', [first], signal);
  own.set([]);
  await it.pairWriter.inspect(signal);
  expect(it.pairWriter.isOpen('g1', first)).toBe(false);
});

test('opens as many addresses as fit, and rejects the others with a remedy', async () => {
  const own = new GatewayPort();
  await using it = await start(own, 2);
  await expect(it.pairWriter.open('g1', [first, second, third], signal)).rejects.toMatchObject({
    code: 'exhausted',
    message: 'the gateway g1 would need 3 address pairs on its port, and Neutron takes 2',
  });
  expect(own.pairs).toEqual(['192.0.2.1', '192.0.2.2']);
  expect(it.pairWriter.isOpen('g1', second)).toBe(true);
  expect(it.pairWriter.isOpen('g1', third)).toBe(false);
});
