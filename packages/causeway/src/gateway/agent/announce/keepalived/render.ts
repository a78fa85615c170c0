import {
  compareAddresses,
  familyOf,
  parseAddress,
  type Address,
} from '@causeway/base/address/address';
import type { KeepalivedSettings, VrrpFamily, VrrpNetwork } from './vrrp-networks.ts';

/** The sync group of all VRRP instances of one gateway. */
const syncGroup = 'gateway';

/** Seconds that a returning gateway listens before it counts missing adverts of its peers. */
const startupDelaySeconds = 1;

/** Adverts with a lower TTL passed a router. */
const linkTtl = 255;

/**
 * keepalived's configuration for these addresses. The same addresses give the same text in any order. It
 * consists of parsed values and constants only, and never contains text from a request.
 */
export function renderKeepalived(settings: KeepalivedSettings, served: Iterable<Address>): string {
  const addresses = [...served].sort(compareAddresses);
  const instances = settings.networks.flatMap((network) =>
    network.families.map((family) => ({ network, family })),
  );
  return [
    ...globalDefinitions(settings),
    'track_file fault {',
    `  file "${settings.files.fault}"`,
    '}',
    ...group(instances.map(({ network, family }) => instanceName(network, family))),
    ...instances.flatMap(({ network, family }) => instance(settings, network, family, addresses)),
    '',
  ].join('\n');
}

/** All instances move together. keepalived rejects a group of a single instance. */
function group(names: readonly string[]): string[] {
  if (names.length === 1) return [];
  return [
    `vrrp_sync_group ${syncGroup} {`,
    '  group {',
    ...names.map((name) => `    ${name}`),
    '  }',
    '}',
  ];
}

/**
 * The subject of keepalived's notifications that has the gateway's state: the group, or the only instance.
 */
export function notifiedSubject({ networks }: KeepalivedSettings): string {
  const names = networks.flatMap((network) =>
    network.families.map((family) => instanceName(network, family)),
  );
  return names.length === 1 ? `INSTANCE "${names[0]}"` : `GROUP "${syncGroup}"`;
}

function globalDefinitions(settings: KeepalivedSettings): string[] {
  return [
    'global_defs {',
    `  router_id ${settings.name}`,
    '  vrrp_version 3',
    `  vrrp_startup_delay ${startupDelaySeconds}`,
    // Adverts must be sent on time even on a busy machine: a late advert causes a failover. Real-time
    // scheduling doesn't work: the kernel kills keepalived when it moves a thousand addresses.
    '  vrrp_priority -20',
    `  vrrp_notify_fifo "${settings.files.notifyFifo}"`,
    `  vrrp_garp_master_delay ${settings.announceAgainSeconds}`,
    '  vrrp_garp_master_repeat 2',
    `  vrrp_garp_master_refresh ${settings.announceAgainSeconds * 10}`,
    '  vrrp_garp_master_refresh_repeat 1',
    '}',
  ];
}

function instanceName(network: VrrpNetwork, family: VrrpFamily): string {
  return `${network.name}-${family.family}`;
}

function instance(
  settings: KeepalivedSettings,
  network: VrrpNetwork,
  family: VrrpFamily,
  served: readonly Address[],
): string[] {
  const others = settings.networks.filter((other) => other.interface !== network.interface);
  const moved = [
    ...family.routes,
    ...(network.name === 'external'
      ? served.filter((address) => familyOf(address) === family.family)
      : []),
  ];
  return [
    `vrrp_instance ${instanceName(network, family)} {`,
    '  state BACKUP',
    '  nopreempt',
    `  interface ${network.interface}`,
    `  virtual_router_id ${family.virtualRouterId}`,
    `  priority ${settings.priority}`,
    `  advert_int ${settings.advertIntervalMs / 1000}`,
    // keepalived rejects unicast without a peer. A gateway without peers sends multicast adverts, and ignores
    // received ones.
    `  ${family.peers.length === 0 ? 'mcast_src_ip' : 'unicast_src_ip'} ${family.source}`,
    ...unicast(family.peers),
    ...block('  track_interface', [...new Set(others.map((other) => other.interface))]),
    ...block('  track_file', ['fault weight 0']),
    ...block('  virtual_ipaddress', [placed(family.anchor, network)]),
    ...block(
      '  virtual_ipaddress_excluded',
      moved.map((address) => placed(address, network)),
    ),
    '}',
  ];
}

/** Peers are on the same link, so their adverts arrive with an unchanged TTL. */
function unicast(peers: readonly Address[]): string[] {
  if (peers.length === 0) return [];
  return [
    `  unicast_ttl ${linkTtl}`,
    '  check_unicast_src',
    ...block(
      '  unicast_peer',
      peers.map((peer) => `${peer} min_ttl ${linkTtl} max_ttl ${linkTtl}`),
    ),
  ];
}

function placed(address: Address, network: VrrpNetwork): string {
  return `${address}/${familyOf(address) === 4 ? 32 : 128} dev ${network.interface}`;
}

function block(name: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${name} {`, ...lines.map((line) => `    ${line}`), '  }'];
}

const addressLine = /^ {4}([0-9a-f.:]+)\/(?:32|128) dev /gm;

/** The addresses that a rendered configuration announces, including anchors and routes. */
export function* readServedAddresses(text: string): Generator<Address> {
  for (const [, address = ''] of text.matchAll(addressLine)) yield parseAddress(address);
}
