import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { dnsTargetAnnotation, holdingAnnotation } from './annotations.ts';
import { announcers } from './announcer.ts';
import { readHolding, type HeldAddress } from './holding.ts';
import { announced, handedOver, withdrawn, type ServiceChange } from './service-change.ts';

const address = parseAddress('10.0.0.7');
const publicAddress = parseAddress('203.0.113.7');
const metalLb = 'metallb.io/loadBalancerIPs';

/** The Service after the write, as the API server would return it. */
function apply(service: Service, { annotations, spec = {} }: ServiceChange): Service {
  const merge = (before: object, change: object) =>
    Object.fromEntries(
      Object.entries({ ...before, ...change }).filter(([, value]) => value !== null),
    );
  const metadata = {
    ...service.metadata,
    annotations: merge(service.metadata?.annotations ?? {}, annotations) as Record<string, string>,
  };
  return { metadata, spec: merge(service.spec ?? {}, spec) };
}

function announce(service: Service, held: HeldAddress, name: 'metallb' | 'kube-vip' | 'plain') {
  const holding = { uid: 'u', addresses: [held], fencingToken: 3 };
  const announcement = { addresses: [held.address] };
  return apply(service, announced(service, announcers[name], holding, announcement));
}

const fresh: Service = {
  metadata: { uid: 'u' },
  spec: {
    type: 'LoadBalancer',
    loadBalancerClass: 'example.com/class',
    loadBalancerSourceRanges: ['192.0.2.0/24'],
    allocateLoadBalancerNodePorts: false,
  },
};

test("writes the announcer's annotations and the holding together", () => {
  const announcedService = announce(fresh, { address }, 'metallb');
  expect(announcedService.metadata?.annotations).toMatchObject({ [metalLb]: address });
  expect(readHolding(announcedService)).toMatchObject({
    addresses: [{ address }],
    announcer: 'metallb',
  });
  expect(announcedService.spec).toEqual(fresh.spec);
});

test('clears the annotations of the former announcer when the announcer changes', () => {
  const moved = announce(announce(fresh, { address }, 'metallb'), { address }, 'kube-vip');
  expect(moved.metadata?.annotations?.[metalLb]).toBeUndefined();
  expect(moved.metadata?.annotations?.['kube-vip.io/loadbalancerIPs']).toBe(address);
});

test('a withdrawn Service is no load balancer, and becomes one again with its former fields', () => {
  const announcedService = announce(fresh, { address }, 'metallb');
  const holding = readHolding(announcedService);
  if (holding === undefined) throw new Error('nothing is held');
  const quiet = apply(announcedService, withdrawn(announcedService, holding, 5));
  expect(quiet.spec).toEqual({ type: 'NodePort' });
  expect(Object.keys(quiet.metadata?.annotations ?? {})).toEqual([holdingAnnotation]);
  expect(readHolding(quiet)).toMatchObject({ stoppedAt: 5, addresses: [{ address }] });
  const again = announce(quiet, { address }, 'metallb');
  expect(again.spec).toEqual(fresh.spec);
  expect(readHolding(again)).toEqual(holding);
});

test('a Service that is being deleted does not become a load balancer again', () => {
  const deleted: Service = {
    ...fresh,
    metadata: { ...fresh.metadata, deletionTimestamp: '2026-11-15T00:00:00Z' },
  };
  const announcedService = announce(deleted, { address }, 'metallb');
  const holding = readHolding(announcedService);
  if (holding === undefined) throw new Error('nothing is held');
  const quiet = apply(announcedService, withdrawn(announcedService, holding, 5));
  expect(quiet.spec).toEqual({ type: 'NodePort' });
  expect(readHolding(quiet)?.kept).toBeUndefined();
});

test('a Service that is handed over keeps its type', () => {
  const announcedService = announce(fresh, { address }, 'metallb');
  const holding = readHolding(announcedService);
  if (holding === undefined) throw new Error('nothing is held');
  const left = apply(announcedService, handedOver(announcedService, holding, 5));
  expect(left.spec).toEqual(fresh.spec);
  expect(left.metadata?.annotations?.[metalLb]).toBeUndefined();
});

test('publishes the address that clients reach, unless the user has set another DNS target', () => {
  const announcedService = announce(fresh, { address, publicAddress }, 'metallb');
  expect(announcedService.metadata?.annotations?.[dnsTargetAnnotation]).toBe(publicAddress);
  const holding = readHolding(announcedService);
  if (holding === undefined) throw new Error('nothing is held');
  const quiet = apply(announcedService, withdrawn(announcedService, holding, 5));
  expect(quiet.metadata?.annotations?.[dnsTargetAnnotation]).toBeUndefined();
  const plain = announce(fresh, { address, publicAddress }, 'plain');
  expect(plain.metadata?.annotations?.[dnsTargetAnnotation]).toBeUndefined();
  const annotations = { [dnsTargetAnnotation]: 'www.example.com' };
  const own = announce(
    { ...fresh, metadata: { uid: 'u', annotations } },
    { address, publicAddress },
    'metallb',
  );
  expect(own.metadata?.annotations?.[dnsTargetAnnotation]).toBe('www.example.com');
});
