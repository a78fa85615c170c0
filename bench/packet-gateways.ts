// Gateways that lead to one backend, each by rules of another kind.

import { addressFromInteger, parseAddress } from '../packages/base/src/address/address.ts';
import { parsePort } from '../packages/base/src/address/port.ts';
import { replacement } from '../packages/nftables/src/plan/diff.ts';
import { buildRuleset } from '../packages/nftables/src/compile/layout.ts';
import { NetlinkDriver } from '../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type { VirtualService } from '../packages/nftables/src/compile/virtual-service.ts';
import type { Host, TestNetwork } from '../test/services/namespaces.ts';
import { packetProgram, servedPort as port } from './alternate-packets.ts';

export const backendPort = 8080;
export const backendAddress = '10.78.0.21';
const settings = {
  table: 'causeway',
  hashSeed: 0x5eed,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};

/** A gateway with its own address that leads to the one backend, by any kind of rules. */
export interface Gateway {
  readonly host: Host;
  readonly address: string;
}

export async function build(network: TestNetwork): Promise<{ client: Host; backend: Host }> {
  await network.segment('ext');
  await network.segment('int');
  const client = await network.host('client');
  await network.join(client, 'ext', '10.77.0.100/16');
  const backend = await network.host('backend');
  await network.join(backend, 'int', `${backendAddress}/24`);
  const server = backend.start(process.execPath, packetProgram, 'serve', String(backendPort));
  await new Promise<void>((resolve) => server.stdout?.once('data', () => resolve()));
  return { client, backend };
}

/** Each gateway masquerades by its routes: the backend answers through the client's gateway. */
export async function addGateway(network: TestNetwork, number: number): Promise<Gateway> {
  const host = await network.host(`gateway${number}`);
  await host.setting('net.ipv4.ip_forward', 1);
  const address = `10.77.1.${number}`;
  await network.join(host, 'ext', `10.77.0.${number}/16`, `${address}/32`);
  await network.join(host, 'int', `10.78.0.${100 + number}/24`);
  return { host, address };
}

const services = (gateway: Gateway, count: number): VirtualService[] => {
  const dispatch = {
    kind: 'slots',
    backends: [{ address: parseAddress(backendAddress), port: parsePort(backendPort) }],
  } as const;
  const masquerade = 'always';
  const measured: VirtualService = {
    address: parseAddress(gateway.address),
    protocol: 'TCP',
    port: parsePort(port),
    dispatch,
    masquerade,
  };
  const others = Array.from(
    { length: count - 1 },
    (_, index): VirtualService => ({
      ...measured,
      address: addressFromInteger(0xc6120000n + BigInt(index), 4),
    }),
  );
  return [...others, measured];
};

export async function programOurs(gateway: Gateway, count: number): Promise<NetlinkDriver> {
  const driver = await NetlinkDriver.open({
    table: settings.table,
    networkNamespace: gateway.host.path,
  });
  await driver.apply(replacement(buildRuleset({ settings, services: services(gateway, count) })));
  return driver;
}

/** The gateway's own address is the last. */
export function servedAddresses(gateway: Gateway, count: number): string[] {
  return services(gateway, count).map(({ address }) => address);
}

/** One rule for each address, in order, like ch-k8s-lbaas: all of them are rewritten on every change. */
export function linearRules(addresses: readonly string[]): string {
  const rules = addresses.map(
    (address) =>
      `ip daddr ${address} tcp dport ${port} mark set 0x1 ct mark set meta mark dnat to ${backendAddress}:${backendPort}`,
  );
  return `table ip linear
  flush table ip linear
  table ip linear {
    chain pre { type nat hook prerouting priority -100; ${rules.join('\n')}
    }
    chain post { type nat hook postrouting priority 100; masquerade fully-random; }
  }\n`;
}

export async function programLinear(gateway: Gateway, count: number): Promise<void> {
  await gateway.host.loadRules(linearRules(servedAddresses(gateway, count)));
}
