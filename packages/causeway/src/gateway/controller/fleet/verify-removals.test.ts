import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { portAnnotations } from '../ports/annotations.ts';
import { verifyRemovals, type RemovalFacts } from './verify-removals.ts';
import type { L2Port } from '../ports/port-slot.ts';
import { frontendFromService } from '../../../services/frontend-from-service.ts';

const address = parseAddress('10.0.0.5');
const floating = parseAddress('203.0.113.5');
const frontend = { address, protocol: 'TCP' as const, port: parsePort(80), service: 'default/web' };

const apiServer: Service = {
  metadata: { namespace: 'default', name: 'kubernetes' },
  spec: { type: 'ClusterIP', ports: [{ port: 443 }] },
};

const l2Port: L2Port = { id: 'port-1', family: 4, address, publicAddress: floating };

const web = (ports: readonly number[], more: Partial<Service> = {}): Service => ({
  metadata: { namespace: 'default', name: 'web', ...more.metadata },
  spec: { type: 'LoadBalancer', ports: ports.map((port) => ({ port })), ...more.spec },
  status: more.status ?? {},
});

const withIngress = (ip: string) => ({ status: { loadBalancer: { ingress: [{ ip }] } } });
const onPort = (id: string, held: readonly number[]) => ({
  metadata: {
    annotations: Object.fromEntries(
      Object.entries(
        portAnnotations(
          new Map([[4, id]]),
          {
            held: held.map((port) => ({ protocol: 'TCP' as const, port: parsePort(port) })),
            sharingGroup: 'default',
          },
          false,
        ),
      ).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
    ),
  },
});
interface Facts extends Partial<Omit<RemovalFacts, 'owners'>> {
  readonly services?: readonly Service[];
}

const leaving = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } };

test.each<[string, Facts, RegExp | undefined]>([
  ['no Service but the API server’s own', {}, undefined],
  ['a Service without an address yet', { services: [apiServer, web([80])] }, undefined],
  [
    'a Service with the address in its status, with the port',
    { services: [apiServer, web([80], withIngress(address))] },
    /default\/web has this address and port/,
  ],
  [
    'a Service with the address in its status, with another port',
    { services: [apiServer, web([81], withIngress(address))] },
    undefined,
  ],
  [
    'a Service with another address in its status',
    { services: [apiServer, web([80], withIngress('10.0.0.6'))] },
    undefined,
  ],
  [
    'a Service with the floating IP of the address in its status',
    { services: [apiServer, web([80], withIngress(floating))], ports: [l2Port] },
    /default\/web has this address and port/,
  ],
  [
    'a Service on the Neutron port of the address',
    { services: [apiServer, web([80], onPort('port-1', [80]))], ports: [l2Port] },
    /default\/web has this address and port/,
  ],
  [
    'a Service that held the port and requests another one',
    { services: [apiServer, web([81], onPort('port-1', [80]))], ports: [l2Port] },
    /default\/web has this address and port/,
  ],
  [
    'the Service itself on an unknown Neutron port',
    { services: [apiServer, web([80], onPort('port-9', [80]))], ports: [l2Port] },
    /port-9 with an unknown address/,
  ],
  [
    'a Service that is being deleted',
    { services: [apiServer, web([80], { ...withIngress(address), ...leaving })] },
    undefined,
  ],
  [
    'a Service that is no longer a load balancer',
    { services: [apiServer, web([80], { ...withIngress(address), spec: { type: 'ClusterIP' } })] },
    undefined,
  ],
  ['the record of addresses', { isHeld: () => true }, /the record of addresses holds/],
  ['an API server without any Service', { services: [] }, /lists no Service at all/],
  [
    'the API server of another cluster',
    { cluster: 'two', expectedCluster: 'one' },
    /belongs to another cluster \(two\)/,
  ],
  ['a cluster that was unknown at the start', { expectedCluster: undefined }, undefined],
])('%s', (_name, { services = [apiServer], ...facts }, doubt) => {
  const verdict = verifyRemovals([frontend], {
    cluster: 'one',
    expectedCluster: 'one',
    ports: [],
    isHeld: () => false,
    ...facts,
    owners: services.map(frontendFromService),
  });
  const key = '10.0.0.5:80/TCP';
  if (doubt === undefined) expect([...verdict.verified]).toEqual([key]);
  else expect([...verdict.doubts]).toEqual([[key, expect.stringMatching(doubt)]]);
  expect(verdict.verified.size + verdict.doubts.size).toBe(1);
});
