import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { gateways, servers, Topology, type GatewayName } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

describe.skipIf(!isRunnable)('backends that stop answering', () => {
  let topology: Topology;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents({ probe: { intervalMs: 500 } });
    const frontends = [
      frontend('10.77.1.1', 'TCP', ['p1', 'p2']),
      frontend('10.77.1.2', 'UDP', ['p1']),
      frontend('2001:db8:77::1:1', 'TCP', ['p1', 'p2']),
    ];
    await topology.push(writeState({ ...nothing, frontends }, { generation: 1 }));
  });
  afterAll(() => topology.stop());

  const unhealthyOn = async (name: GatewayName) =>
    (await topology.client(name).status(signal)).unhealthy.acted;
  const unhealthy = async () => [...(await unhealthyOn('g1')), ...(await unhealthyOn('g2'))];
  const mute = (machine: string) =>
    topology.network.run(
      machine,
      ['nft', '-f', '-'],
      'table inet mute {\n chain everything {\n type filter hook input priority 0; policy drop;\n }\n }\n',
    );
  const unmute = (machine: string) =>
    topology.network.run(machine, ['nft', 'delete', 'table', 'inet', 'mute']);
  const who = async (address: string) => {
    const answers = await topology.ask<string[]>('c', 'who', address, 80, 20);
    return [...new Set(answers.map((text) => text.split(' ')[0] ?? ''))].sort().join();
  };
  /** A gateway that is stalled for a moment may take a healthy backend for unhealthy. */
  const becomes = (address: string, expected: string) =>
    waitFor(`${address} to be answered by ${expected}`, async () => {
      const found = await who(address);
      if (found !== expected) throw new Error(`by ${found}`);
      return true;
    });

  test('get no connections, long before other components notice, and get them back', async () => {
    await becomes('10.77.1.1', 'p1,p2');
    for (const name of gateways) {
      await waitFor(`${name} to have heard everybody`, async () => {
        const { unhealthy: known } = await topology.client(name).status(signal);
        return known.heard === 4;
      });
    }
    await mute('p1');
    const { v4, v6 } = servers.p1;
    await waitFor('p1 alone to be out on both gateways', async () => {
      const out = (await unhealthy()).map(String).sort();
      return out.join() === [v4, v4, v6, v6].sort().join();
    });
    await becomes('10.77.1.1', 'p2');
    await becomes('2001:db8:77::1:1', 'p2');
    await unmute('p1');
    await waitFor('p1 to be back', async () => (await unhealthy()).length === 0);
    await becomes('10.77.1.1', 'p1,p2');
  });

  test('are never all excluded', async () => {
    await Promise.all([mute('p1'), mute('p2')]);
    await waitFor('the alarm', async () => {
      const { alarms } = await topology.client('g1').status(signal);
      return alarms.some((text) => text.startsWith('cut-off'));
    });
    await waitFor('no unhealthy backend', async () => (await unhealthy()).length === 0);
    await Promise.all([unmute('p1'), unmute('p2')]);
    // The backend that recovers first excludes the other one for a moment.
    await becomes('10.77.1.1', 'p1,p2');
  });

  test('make a gateway that alone does not reach them yield, if the controller knows another one', async () => {
    const cutOff = await waitFor('one active gateway', () => topology.active());
    const other = cutOff === 'g1' ? 'g2' : 'g1';
    const client = topology.client(cutOff);
    const alarms = async () => (await client.status(signal)).alarms.join();
    const block = async (verb: string) => {
      for (const { v4 } of [servers.p1, servers.p2]) {
        await topology.network.ip(cutOff, `route ${verb} blackhole ${v4}/32`);
      }
    };
    await block('add');
    await waitFor('the alarm', async () => (await alarms()).includes('cut-off'));
    expect(await topology.active()).toBe(cutOff);
    await waitFor('the other to be active', async () => {
      await client.sendRelief(true, signal);
      return (await topology.active()) === other;
    });
    expect(await alarms()).toContain('bad-health: the addresses are given up');
    await block('del');
    await waitFor('no alarm', async () => (await alarms()) === '');
    expect(await topology.active()).toBe(other);
  });

  test("are set by the controller while it is connected, and by the gateway's probes when it is not", async () => {
    const active = await waitFor('one active gateway', () => topology.active());
    const client = topology.client(active);
    const listening = new AbortController();
    const events = client.events(listening.signal);
    await events.next();
    await client.sendUnhealthy([parseAddress(servers.p2.v4)], signal);
    expect(await unhealthyOn(active)).toEqual([servers.p2.v4]);
    await becomes('10.77.1.1', 'p1');
    listening.abort();
    await events.next().catch(() => undefined);
    await waitFor('everybody to be back', async () => (await unhealthy()).length === 0);
  });
});
