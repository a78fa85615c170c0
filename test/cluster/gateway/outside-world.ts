import type { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { gateways, type GatewayName, type Topology } from '../../kernel/gateway/topology.ts';
import { runProgram } from '../../services/run-program.ts';

const { signal } = new AbortController();
const floatingNetwork = '203.0.113.0/24';

/**
 * A remote client, and the router between it and the gateways. The router translates floating to fixed
 * addresses one to one from Neutron's list, like an L3 agent.
 */
export class OutsideWorld {
  readonly #topology: Topology;
  readonly #neutron: Neutron;

  private constructor(topology: Topology, neutron: Neutron) {
    this.#topology = topology;
    this.#neutron = neutron;
  }

  static async build(topology: Topology, neutron: Neutron): Promise<OutsideWorld> {
    const { network } = topology;
    await network.addMachine('router');
    await network.addMachine('world');
    await network.plug('router', 'ext', 'external', ['10.77.0.1/16', '2001:db8:77::1/64']);
    await network.cable(
      { machine: 'router', link: 'wan', addresses: ['198.51.100.1/24', '2001:db8:198::1/64'] },
      { machine: 'world', link: 'eth0', addresses: ['198.51.100.10/24', '2001:db8:198::10/64'] },
    );
    await network.sysctl('router', 'net.ipv4.ip_forward', 1);
    await network.sysctl('router', 'net.ipv6.conf.all.forwarding', 1);
    await network.ip('world', `route add ${floatingNetwork} via 198.51.100.1`);
    // In IPv6 nothing is translated: the gateways' own network is reached directly.
    await network.ip('world', '-6 route add 2001:db8:77::/64 via 2001:db8:198::1');
    const world = new OutsideWorld(topology, neutron);
    for (const name of gateways) await world.connect(name);
    return world;
  }

  /** The gateway's default route; to be set again after a power cut. */
  async connect(gateway: GatewayName): Promise<void> {
    const { network } = this.#topology;
    await network.ip(gateway, 'route replace 198.51.100.0/24 via 10.77.0.1');
    await network.ip(gateway, '-6 route replace 2001:db8:198::/64 via 2001:db8:77::1');
  }

  /** Reads floating IPs from Neutron and translates accordingly, like an L3 agent. */
  async translate(): Promise<void> {
    const pairs: string[] = [];
    for await (const floating of this.#neutron.floatingIps.list({}, { signal })) {
      if (floating.fixedIp === undefined) continue;
      pairs.push(`${floating.address} : ${floating.fixedIp}`);
    }
    const elements = pairs.length === 0 ? '' : `elements = { ${pairs.join(', ')} }`;
    const rules = `
      table ip l3
      delete table ip l3
      table ip l3 {
        map floating { type ipv4_addr : ipv4_addr; ${elements} }
        chain prerouting {
          type nat hook prerouting priority dstnat;
          dnat to ip daddr map @floating
        }
      }`;
    await this.#topology.network.run('router', ['nft', '-f', '-'], rules);
  }

  /** Whether any machine beside the router answers for an IPv6 address, without cached neighbors. */
  async isHeard(address: string): Promise<boolean> {
    const { network } = this.#topology;
    await network.ip('router', '-6 neigh flush all');
    const ping = ['ping', '-q', '-c', '3', '-i', '0.5', '-W', '1', address];
    await runProgram('ip', ['netns', 'exec', network.namespace('router'), ...ping]);
    return (await network.ip('router', `-6 neigh show ${address}`)).includes('lladdr');
  }

  /** What curl gets from outside, undefined on failure. */
  async curl(address: string, port: number): Promise<string | undefined> {
    const host = address.includes(':') ? `[${address}]` : address;
    const { code, stdout } = await runProgram('ip', [
      ...['netns', 'exec', this.#topology.network.namespace('world')],
      ...['curl', '-sS', '--max-time', '3', `http://${host}:${port}/`],
    ]);
    return code === 0 ? stdout : undefined;
  }
}
