import fc from 'fast-check';
import { parseAddress } from '../../packages/base/src/address/address.ts';
import { parsePort } from '../../packages/base/src/address/port.ts';
import type {
  ListenerView,
  LoadBalancerView,
  MemberView,
  ProjectTree,
} from '../../packages/causeway/src/discovery/project-tree.ts';

/** Names as people and programs give them, and unusual ones. */
export const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 255 }),
  fc.constantFrom(
    '',
    'web',
    'Web',
    'web ',
    'Über/uns',
    'kube_service_cluster_ns_name',
    'x'.repeat(255),
  ),
);

const anyPort = fc
  .oneof(fc.constantFrom(53, 80, 443), fc.integer({ min: 1, max: 65535 }))
  .map(parsePort);

const anyMember: fc.Arbitrary<MemberView> = fc.record({
  address: fc
    .oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.1', '10.0.0.2', '127.0.0.1', 'fe80::1'))
    .filter((text) => !text.includes('.') || !text.includes(':'))
    .map(parseAddress),
  port: anyPort,
  weight: fc.integer({ min: 0, max: 256 }),
  backup: fc.boolean(),
  adminStateUp: fc.boolean(),
  operatingStatus: fc.constantFrom(
    'ONLINE',
    'OFFLINE',
    'DRAINING',
    'NO_MONITOR',
    'ERROR',
    'UNKNOWN',
  ),
});

const anyListener: fc.Arbitrary<ListenerView> = fc.record({
  id: fc.uuid(),
  name: anyName,
  protocol: fc.constantFrom(
    'TCP',
    'UDP',
    'SCTP',
    'HTTP',
    'HTTPS',
    'TERMINATED_HTTPS',
    'PROMETHEUS',
    'QUIC',
  ),
  port: anyPort,
  adminStateUp: fc.boolean(),
  pool: fc.option(
    fc.record({
      id: fc.uuid(),
      protocol: fc.constantFrom('TCP', 'UDP', 'HTTP', 'HTTPS', 'PROXY', 'PROXYV2'),
      tlsEnabled: fc.boolean(),
      adminStateUp: fc.boolean(),
      members: fc.array(anyMember, { maxLength: 6 }),
    }),
    { nil: undefined },
  ),
  l7PoolIds: fc.array(fc.uuid(), { maxLength: 2 }),
});

const anyLoadBalancer: fc.Arbitrary<LoadBalancerView> = fc.record({
  id: fc.uuid(),
  name: anyName,
  adminStateUp: fc.boolean(),
  vipAddress: fc.option(fc.ipV4().map(parseAddress), { nil: undefined }),
  listeners: fc.uniqueArray(anyListener, { maxLength: 5, selector: ({ id }) => id }),
});

/** A project with up to four load balancers of any shape. */
export const anyTree: fc.Arbitrary<ProjectTree> = fc
  .uniqueArray(anyLoadBalancer, { maxLength: 4, selector: ({ id }) => id })
  .map((loadBalancers) => ({ loadBalancers, unclear: [] }));
