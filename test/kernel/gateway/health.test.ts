import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { gateways, Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

/** The agent can read the kernel's settings but not change them. */
const readOnlySettings = [
  ...['unshare', '--mount', 'sh', '-c'],
  'mount --bind /proc/sys/net /proc/sys/net && mount -o remount,bind,ro /proc/sys/net && exec "$@"',
  'sh',
];

describe.skipIf(!isRunnable)('an unhealthy gateway', () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await Topology.start();
  });
  afterAll(() => topology.stop());

  test('yields its addresses to the other one, and comes back as standby', async () => {
    for (const name of gateways) {
      for (const setting of ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding']) {
        await topology.network.sysctl(name, setting, 1);
      }
      await topology.startAgent(name, {}, readOnlySettings);
    }
    const ill = await waitFor('an active gateway', () => topology.active());
    const other = ill === 'g1' ? 'g2' : 'g1';
    const state = { ...nothing, frontends: [frontend('10.77.1.1', 'TCP', ['p1'])] };
    await topology.push(writeState(state, { generation: 1 }));
    const status = () => topology.client(ill).status(signal);

    await topology.network.sysctl(ill, 'net.ipv4.ip_forward', 0);
    await waitFor('the other to be active', async () => (await topology.active()) === other);
    await waitFor('the ill one to say so', async () => {
      const { announcer, alarms } = await status();
      return announcer.role === 'unable' && alarms.some((text) => text.startsWith('bad-health'));
    });
    expect(await topology.ask<string[]>('c', 'who', '10.77.1.1', 80, 1)).toEqual([
      'p1 10.77.0.100',
    ]);

    await topology.network.sysctl(ill, 'net.ipv4.ip_forward', 1);
    await waitFor('it to be well', async () => {
      const { announcer, alarms } = await status();
      return announcer.role === 'standby' && alarms.length === 0;
    });
    expect(await waitFor('one active gateway', () => topology.active())).toBe(other);
  });
});
