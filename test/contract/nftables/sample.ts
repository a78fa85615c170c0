import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import type {
  LayoutInput,
  VirtualService,
} from '../../../packages/nftables/src/compile/virtual-service.ts';

export function slots(...backends: string[]): VirtualService['dispatch'] {
  return {
    kind: 'slots',
    backends: backends.map((text) => ({ address: address(text), port: port(8080) })),
  };
}

/** A ruleset with every kind of rule, set and element. */
export function everything(table: string): LayoutInput {
  return {
    settings: {
      table,
      hashSeed: 0xdeadbeef,
      localSources: [prefix('10.0.0.0/8'), prefix('10.0.0.0/9'), prefix('fd00::/8')],
      hairpin: true,
      resumeConnections: true,
      insiders: {
        networks: [prefix('10.1.0.0/16'), prefix('fd01::/64')],
        interfaces: ['cni0', 'veth*'],
      },
      dropsUnallocated: true,
      retriesRefused: true,
      vrrp: {
        links: [
          { interface: 'ext', peers: [address('10.1.1.1'), address('fd00::1')] },
          { interface: 'int', peers: [address('10.2.2.1')] },
        ],
        routerIds: [51, 52],
      },
    },
    services: [
      {
        address: address('192.0.2.1'),
        protocol: 'TCP',
        port: port(80),
        dispatch: slots('10.0.0.1', '10.0.0.2', '10.0.0.3'),
      },
      {
        address: address('192.0.2.1'),
        protocol: 'UDP',
        port: port(53),
        dispatch: slots('10.0.0.1'),
        sourceRanges: [prefix('198.51.100.0/24'), prefix('203.0.113.7/32')],
        masquerade: 'always',
      },
      {
        address: address('192.0.2.2'),
        protocol: 'SCTP',
        port: port(80),
        dispatch: { kind: 'node-ports', nodePort: port(30_080) },
        affinity: { kind: 'client-hash' },
        masquerade: 'never',
      },
      {
        address: address('2001:db8::1'),
        protocol: 'TCP',
        port: port(443),
        dispatch: slots('fd00::11', 'fd00::12'),
        affinity: { kind: 'client-timeout', seconds: 10_800 },
      },
      {
        address: address('2001:db8::1'),
        protocol: 'UDP',
        port: port(443),
        dispatch: slots('fd00::11', 'fd00::12'),
        sourceRanges: [prefix('::/0')],
      },
      {
        address: address('192.0.2.3'),
        protocol: 'TCP',
        port: port(80),
        dispatch: { kind: 'hold', logGroup: 7 },
      },
      {
        address: address('192.0.2.4'),
        protocol: 'TCP',
        port: port(80),
        dispatch: { kind: 'route-unchanged' },
      },
      {
        address: address('192.0.2.5'),
        protocol: 'TCP',
        port: port(80),
        dispatch: slots(),
        exclusiveAddress: false,
      },
      {
        address: address('192.0.2.6'),
        protocol: 'TCP',
        port: port(80),
        dispatch: slots(),
        withoutBackends: 'drop',
      },
      {
        address: address('192.0.2.7'),
        protocol: 'TCP',
        port: port(80),
        dispatch: slots('10.0.0.1'),
        insideBackends: ['10.0.0.1', '10.0.0.2'].map((text) => ({
          address: address(text),
          port: port(8080),
        })),
        masquerade: 'machine',
      },
      {
        address: address('2001:db8::7'),
        protocol: 'TCP',
        port: port(80),
        dispatch: slots(),
        insideBackends: ['fd00::11', 'fd00::12'].map((text) => ({
          address: address(text),
          port: port(8080),
        })),
        affinity: { kind: 'client-timeout', seconds: 60, group: 'shop/web TCP/80' },
        masquerade: 'outsiders',
        withoutBackends: 'drop',
      },
      {
        address: address('192.0.2.8'),
        protocol: 'TCP',
        port: port(80),
        dispatch: { kind: 'here', port: port(15_080) },
      },
    ],
    nodes: ['10.7.0.1', '10.7.0.2', '10.7.0.3', 'fd07::1'].map(address),
    policies: [
      {
        namespace: 'shop',
        name: 'front',
        allow: [
          {
            from: [
              { cidr: prefix('0.0.0.0/0'), except: [prefix('10.0.0.0/8')] },
              { cidr: prefix('2001:db8::/32'), except: [] },
            ],
            ports: [
              { protocol: 'TCP', first: port(8080), last: port(8090) },
              { protocol: 'UDP', first: port(53) },
              { protocol: 'SCTP' },
            ],
          },
        ],
      },
      { namespace: 'shop', name: 'all', allow: [{}] },
    ],
    pods: [
      { address: address('10.0.0.1'), policies: ['shop/front'] },
      { address: address('10.0.0.2'), policies: ['shop/front', 'shop/all'] },
      { address: address('fd00::11'), policies: ['shop/front'] },
    ],
    virtualNetworks: ['10.96.0.0/16', 'fd00:96::/112'].map(prefix),
  };
}
