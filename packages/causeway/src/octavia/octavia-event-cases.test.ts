import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until } from '../../../../test/octavia/until.ts';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';

interface EventCase {
  readonly reason: string;
  /** A part of the message. */
  readonly message: string;
  readonly service: Service;
  readonly slice?: EndpointSlice;
  readonly node?: Node;
}

const withoutNodePorts = { allocateLoadBalancerNodePorts: false };

/** The load balancers send to pods. */
const withPods: readonly EventCase[] = [
  {
    reason: 'KuryrSkipMember',
    message: 'no members for endpoints that are names',
    service: newService('names'),
    slice: {
      ...newSlice('names', []),
      addressType: 'FQDN',
      endpoints: [{ addresses: ['web.example.com'] }],
    },
  },
  {
    reason: 'AnnotationIgnored',
    message: 'loadbalancer.openstack.org/lb-method is ignored: "FASTEST"',
    service: newService('method', {}, { 'loadbalancer.openstack.org/lb-method': 'FASTEST' }),
  },
  {
    reason: 'NoSubnet',
    message: 'There is no subnet for IPv6: set octavia.subnets.',
    service: newService('six', { ipFamilies: ['IPv6'] }),
  },
  {
    reason: 'InvalidAddress',
    message: '"010.1.1.1" is not an IP address.',
    service: newService('address', {}, { 'causeway.dev/address': '010.1.1.1' }),
  },
  {
    reason: 'CannotBeWoken',
    message: 'The Service is idle and has no node ports',
    service: newService('idle', withoutNodePorts, {
      'idling.alpha.openshift.io/idled-at': '2026-11-15T10:00:00Z',
    }),
  },
];

/** The load balancers send to node ports. */
const withNodes: readonly EventCase[] = [
  {
    reason: 'NoNodePorts',
    message: 'The Service has no node ports, so the load balancer sends to the pods.',
    service: newService('web', withoutNodePorts),
  },
  {
    reason: 'KuryrSkipMember',
    message: 'The node n6 has no address of IPv4',
    service: newService('four'),
    // The controller creates no load balancer before the first endpoint.
    slice: newSlice('four', ['10.10.1.1']),
    node: {
      metadata: { name: 'n6' },
      status: {
        addresses: [{ type: 'InternalIP', address: 'fd00::6' }],
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
  },
];

describe.each([
  { members: 'Pod' as const, cases: withPods },
  { members: 'NodePort' as const, cases: withNodes },
])('with members of the kind $members', ({ members, cases }) => {
  let lab: OctaviaLab;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    ({ lab, stop } = await openEmbeddedLab());
    await lab.start({ members });
  });
  afterAll(() => stop());

  test.each(cases)('$reason is recorded', async (example) => {
    const { reason, message, service, slice, node } = example;
    if (node !== undefined) await lab.client.create(nodes, node);
    if (slice !== undefined) await lab.client.create(endpointSlices, slice);
    await lab.client.create(services, service);
    const start = `${service.metadata?.name} Warning ${reason}: `;
    await until(() => {
      const recorded = lab.events.filter((event) => event.startsWith(start));
      expect(recorded.join('\n')).toContain(message);
    });
  });
});
