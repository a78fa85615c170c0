import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anchorFor } from '../../../packages/causeway/src/gateway/agent/announce/keepalived/vrrp-networks.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { externalAddressesOf, gateways, Topology, type GatewayName } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
const virtual = ['10.77.1.1', '2001:db8:77::1:1'] as const;
const networks = {
  external: { routerId: 51, addressesOf: externalAddressesOf },
  internal: {
    routerId: 52,
    addressesOf: (name: GatewayName) => {
      const host = name === 'g1' ? 11 : 12;
      return { v4: `10.78.0.${host}`, v6: `2001:db8:78::${host}` };
    },
  },
} as const;
type NetworkName = keyof typeof networks;
const peerOf = (name: GatewayName): GatewayName => (name === 'g1' ? 'g2' : 'g1');

describe.skipIf(!isRunnable)('forged VRRP adverts', () => {
  let topology: Topology;
  let active: GatewayName;
  let forgers = 0;

  beforeAll(async () => {
    topology = await Topology.start();
    // The node sends each forged packet directly to its target gateway, and checks no sources.
    for (const name of gateways) {
      const { v4, v6 } = networks.external.addressesOf(name);
      const via = networks.internal.addressesOf(name);
      await topology.network.ip('n1', `route add ${v4} via ${via.v4}`);
      await topology.network.ip('n1', `-6 route add ${v6} via ${via.v6}`);
    }
    for (const link of ['all', 'pod', 'int']) {
      await topology.network.sysctl('n1', `net.ipv4.conf.${link}.rp_filter`, 0);
    }
    await topology.startAgents();
    const frontends = virtual.map((address) => frontend(address, 'TCP', ['p1', 'p2']));
    await topology.push(writeState({ ...nothing, frontends }, { generation: 1 }));
    active = await waitFor('one active gateway', () => topology.active());
  });
  afterAll(() => topology.stop());

  /** Adverts to both gateways, in both families. */
  async function forge(
    machine: string,
    network: NetworkName,
    ttl: number,
    sources: (to: GatewayName, network: NetworkName) => { v4: string; v6: string },
  ): Promise<ServiceProcess> {
    forgers += 1;
    const name = `forger-${forgers}`;
    const { routerId, addressesOf } = networks[network];
    const streams = gateways.flatMap((to) => {
      const from = sources(to, network);
      const { v4, v6 } = addressesOf(to);
      return [
        ...[from.v4, v4, String(routerId), anchorFor(4, routerId)],
        ...[from.v6, v6, String(routerId), anchorFor(6, routerId)],
      ];
    });
    const script = path.join(import.meta.dirname, 'programs', 'forge-adverts.ts');
    const forger = topology.start(machine, name, [script, String(ttl), ...streams]);
    await waitFor(`${name} to send`, async () =>
      (await fs.readFile(topology.log(name), 'utf8')).includes('sending'),
    );
    return forger;
  }

  async function droppedOn(name: GatewayName): Promise<number> {
    const text = await topology.network.run(name, [
      ...['nft', 'list', 'set', 'inet', 'causeway', 'vrrp-dropped'],
    ]);
    return Number(/counter packets (\d+)/.exec(text)?.[1]);
  }

  async function stateOf(name: GatewayName): Promise<string> {
    const { announcer } = await topology.client(name).status(signal);
    return `${announcer.role} since ${announcer.since}`;
  }

  /** Forges adverts until both gateways have dropped many. Fails when one of them changes its state. */
  async function expectDropped(start: () => Promise<ServiceProcess>): Promise<void> {
    const before = new Map<GatewayName, { state: string; dropped: number }>();
    for (const name of gateways) {
      const dropped = await droppedOn(name).catch(() => 0);
      before.set(name, { state: await stateOf(name), dropped });
    }
    const forger = await start();
    try {
      await waitFor('both gateways to drop forged adverts', async () => {
        for (const [name, { state }] of before) {
          const now = await stateOf(name);
          if (now !== state) throw new HopelessError(`${name} was ${state} and is ${now}`);
        }
        for (const [name, { dropped }] of before) {
          if ((await droppedOn(name)) < dropped + 40) return false;
        }
        return true;
      });
      expect(await topology.active()).toBe(active);
      for (const address of virtual) {
        const [answer] = await topology.ask<string[]>('c', 'who', address, 80, 1);
        expect(answer).toMatch(/^p[12] /);
      }
    } finally {
      await forger.stop();
    }
  }

  const peers = (to: GatewayName, network: NetworkName) =>
    networks[network].addressesOf(peerOf(to));
  const ownAddress = () => ({ v4: '10.77.0.100', v6: '2001:db8:77::100' });

  test.each([
    ['from a pod two hops away with a peer as source', 'p1', 'internal', 255, peers],
    ['from a node on an interface of another network', 'n1', 'external', 255, peers],
    ['from the same link with a TTL below 255', 'c', 'external', 254, peers],
    ['from a machine on the same link that is no peer', 'c', 'external', 255, ownAddress],
  ] as const)('%s cause no failover', async (_, machine, network, ttl, sources) => {
    await expectDropped(() => forge(machine, network, ttl, sources));
  });

  test('raise an alarm that names the source, and failover keeps working', async () => {
    const forger = await forge('c', 'external', 255, ownAddress);
    try {
      for (const name of gateways) {
        await waitFor(`the alarm of ${name}`, async () => {
          const { alarms } = await topology.client(name).status(signal);
          return alarms.find((each) => /^forged-adverts: .*10\.77\.0\.100/.test(each));
        });
      }
      await topology.command(active, 'drain', '--reason', 'a test of failover');
      const next = peerOf(active);
      await waitFor('the other gateway to be active', async () => {
        return (await topology.active()) === next;
      });
      await topology.command(active, 'undrain');
      for (const address of virtual) {
        const [answer] = await topology.ask<string[]>('c', 'who', address, 80, 1);
        expect(answer).toMatch(/^p[12] /);
      }
    } finally {
      await forger.stop();
    }
  });
});
