import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { gateways, Topology, type GatewayName } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
const virtual = ['10.77.1.1', '2001:db8:77::1:1'] as const;
const peerOf = (name: GatewayName): GatewayName => (name === 'g1' ? 'g2' : 'g1');

/** A client behind a router; gateways answer it through their default routes. */
async function addFarClient({ network }: Topology): Promise<void> {
  for (const machine of ['router', 'far']) await network.addMachine(machine);
  await network.plug('router', 'ext', 'external', ['10.77.0.1/16', '2001:db8:77::1/64']);
  await network.cable(
    { machine: 'router', link: 'far', addresses: ['10.99.0.1/24', '2001:db8:99::1/64'] },
    { machine: 'far', link: 'eth0', addresses: ['10.99.0.2/24', '2001:db8:99::2/64'] },
  );
  await network.sysctl('router', 'net.ipv4.ip_forward', 1);
  await network.sysctl('router', 'net.ipv6.conf.all.forwarding', 1);
  await network.ip('far', 'route add default via 10.99.0.1');
  await network.ip('far', '-6 route add default via 2001:db8:99::1');
  for (const name of gateways) {
    await network.ip(name, 'route add default via 10.77.0.1');
    await network.ip(name, '-6 route add default via 2001:db8:77::1');
  }
}

describe.skipIf(!isRunnable)('a link of the active gateway that goes down and up', () => {
  let topology: Topology;

  beforeAll(async () => {
    topology = await Topology.start();
    await addFarClient(topology);
    await topology.startAgents();
    const frontends = virtual.map((address) => frontend(address, 'TCP', ['p1', 'p2']));
    await topology.push(writeState({ ...nothing, frontends }, { generation: 1 }));
  });
  afterAll(() => topology.stop());

  /** The tour's second step: the active gateway loses its link, the other takes over, the link is back. */
  async function bounce(name: GatewayName): Promise<void> {
    await topology.network.ip(name, 'link set ext down');
    const other = peerOf(name);
    await waitFor('the other to be active', async () => (await topology.active()) === other);
    await topology.network.ip(name, 'link set ext up');
  }

  async function expectServed(): Promise<void> {
    for (const address of virtual) {
      await waitFor(
        `an answer on ${address}`,
        async () => {
          const [answer = ''] = await topology.ask<string[]>('far', 'who', address, 80, 1, 2_000);
          return /^p[12] /.test(answer);
        },
        { timeoutMs: 60_000 },
      );
    }
  }

  const statusOf = (name: GatewayName) => topology.client(name).status(signal);
  const waitForAlarm = (name: GatewayName, alarm: RegExp) =>
    waitFor(`${name} to raise ${alarm}`, async () =>
      (await statusOf(name)).alarms.find((text) => alarm.test(text)),
    );

  test('on one gateway after the other, clients stay served in both families', async () => {
    await expectServed();
    const first = await waitFor('one active gateway', () => topology.active());
    await bounce(first);
    await bounce(peerOf(first));
    await expectServed();
    for (const name of gateways) {
      await waitFor(`${name} to be as it was`, async () => {
        const routes = await topology.network.run(name, ['ip', '-6', 'route', 'show', 'default']);
        const { alarms } = await statusOf(name);
        return routes.includes('2001:db8:77::1') && alarms.length === 0;
      });
    }
    expect(await topology.active()).toBe(first);
  });

  test('raises an alarm while it is down', async () => {
    const active = await waitFor('one active gateway', () => topology.active());
    await topology.network.ip(active, 'link set ext down');
    await waitForAlarm(active, /^link-down: .*ext/);
    await topology.network.ip(active, 'link set ext up');
    await waitFor('the alarm to end', async () => (await statusOf(active)).alarms.length === 0);
  });

  test('makes the gateway yield if nothing is restored, and take part again after the repair', async () => {
    for (const name of gateways) await topology.stopAgent(name);
    await topology.startAgents({ links: { restore: false } });
    const first = await waitFor('one active gateway', () => topology.active());
    const second = peerOf(first);
    await bounce(first);
    await waitForAlarm(first, /^bad-health: .*(missing|lost)/);
    expect((await statusOf(first)).announcer.role).toBe('unable');
    await expectServed();
    await topology.network.ip(second, 'link set ext down');
    await waitForAlarm(second, /^link-down/);
    await topology.network.ip(second, 'link set ext up');
    await waitForAlarm(second, /^bad-health: .*(missing|lost)/);
    await waitForAlarm(first, /^bad-health/);
    const host = first === 'g1' ? 11 : 12;
    await topology.network.ip(first, `address add 2001:db8:77::${host}/64 dev ext nodad`);
    await topology.network.ip(first, 'route add default via 10.77.0.1');
    await topology.network.ip(first, '-6 route add default via 2001:db8:77::1');
    await waitFor('the repaired one to be well', async () => {
      const { alarms } = await statusOf(first);
      return !alarms.some((text) => text.startsWith('bad-health'));
    });
    await waitFor('the repaired one to be active', async () => (await topology.active()) === first);
    await expectServed();
  });
});
