import {
  compareAddresses,
  familyOf,
  parseAddress,
  type Address,
} from '@causeway/base/address/address';
import type { KeepalivedSettings, VrrpFamily, VrrpNetwork } from './settings.ts';

/** The sync group that everything of one gateway moves with. */
const syncGroup = 'gateway';

/** A gateway that comes back listens for so long before it counts missing adverts against its peers. */
const startupDelaySeconds = 1;

/** Adverts with another TTL went through a router. */
const linkTtl = 255;

/**
 * keepalived's configuration for these addresses. The same text for the same addresses in any order.
 * Everything in it is a parsed value or a constant; nothing here is text that somebody sent.
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

/** Everything moves together. One instance alone needs no group, and keepalived takes none of one. */
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

/** Whose state is the gateway's, as keepalived names it in what it tells: the group's, or the only one's. */
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
    // Adverts must go out on time however busy the machine is: a late one is a takeover. Real-time
    // scheduling is no way to that: the kernel ends keepalived when it moves a thousand addresses.
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
    // keepalived refuses unicast without a peer. A gateway alone tells everybody, and hears nobody.
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

/** Peers are on the same link, so their adverts arrive with the TTL that they are sent with. */
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

/** The addresses that a configuration of ours announces, anchors and routes included. */
export function* readServedAddresses(text: string): Generator<Address> {
  for (const [, address = ''] of text.matchAll(addressLine)) yield parseAddress(address);
}
