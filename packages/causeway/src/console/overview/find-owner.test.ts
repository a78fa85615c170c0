import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { findOwner } from './find-owner.ts';

const service = (name: string, port: number, spec: Service['spec'] = {}): Service => ({
  metadata: { namespace: 'shop', name },
  spec: { ports: [{ port, protocol: 'TCP' }], ...spec },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.5' }] } },
});
const ask = (services: readonly Service[], address: string, port: number) => {
  const target = {
    address: parseAddress(address),
    port: parsePort(port),
    protocol: 'TCP',
  } as const;
  const owner = findOwner(services, target);
  return owner && [owner.service.metadata?.name, owner.role, owner.hasPort];
};

test.each([
  ['203.0.113.5', 80, ['web', 'load balancer', true]],
  ['203.0.113.5', 443, ['secure', 'load balancer', true]],
  ['203.0.113.5', 22, ['web', 'load balancer', false]],
  ['10.96.0.7', 80, ['web', 'cluster', true]],
  ['192.0.2.9', 443, ['secure', 'external', true]],
  ['192.0.2.1', 80, undefined],
])('%s port %d', (address, port, owner) => {
  const services = [
    service('web', 80, { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00:96::7'] }),
    service('secure', 443, { externalIPs: ['192.0.2.9'] }),
  ];
  expect(ask(services, address, port)).toEqual(owner);
});
