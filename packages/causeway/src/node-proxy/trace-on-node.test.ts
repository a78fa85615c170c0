import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { traceOnNode } from './trace-on-node.ts';

const node = (index: number) => ({
  metadata: { name: `node-${index}` },
  spec: { podCIDRs: [`10.244.${index}.0/24`] },
  status: { addresses: [{ type: 'InternalIP' as const, address: `192.168.50.2${index}` }] },
});
const nodes = [node(1), node(2)];
const service = {
  metadata: { namespace: 'shop', name: 'web' },
  spec: { clusterIP: '10.96.0.9', ports: [{ port: 80, protocol: 'TCP' as const }] },
};
const slice = (...addresses: string[]) => ({
  addressType: 'IPv4' as const,
  ports: [{ name: '', port: 8080, protocol: 'TCP' as const }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});
const ask = (client: string, address: string, slices: ReturnType<typeof slice>[]) =>
  traceOnNode(
    { service, slices, nodes },
    {
      client: parseAddress(client),
      clientPort: parsePort(40_000),
      address: parseAddress(address),
      protocol: 'TCP',
      port: parsePort(80),
    },
  );

test.each([
  ['a pod, where it runs', '10.244.2.7', 'node-2', false],
  ['a node itself', '192.168.50.21', 'node-1', true],
  ['an external client, which is masqueraded', '198.51.100.10', 'node-1', true],
])('%s', (_who, client, name, masqueraded) => {
  const found = ask(client, '10.96.0.9', [slice('10.244.1.1')]);
  expect(found?.node).toBe(name);
  expect(found?.trace).toMatchObject({ outcome: 'forwarded', masqueraded });
  expect(found?.trace.packet).toMatchObject({ destination: '10.244.1.1', destinationPort: 8080 });
  expect(found?.trace.steps.map(({ chain }) => chain)).toContain('services');
});

test('without endpoints it is rejected, and an address without a Service is not served', () => {
  expect(ask('10.244.1.5', '10.96.0.9', [])?.trace.outcome).toBe('rejected');
  expect(ask('10.244.1.5', '10.96.0.10', [slice('10.244.1.1')])).toBeUndefined();
});
