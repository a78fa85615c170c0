import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { faults } from './faults.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { gateways, Topology, type GatewayName } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

describe.skipIf(!isRunnable)('upkeep', () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await Topology.start();
  });
  afterEach(async () => {
    for (const name of gateways) await topology.killAgent(name);
  });
  afterAll(() => topology.stop());

  const push = (generation: number) =>
    topology.push(
      writeState({ ...nothing, frontends: [frontend('10.77.1.1', 'UDP', ['p1'])] }, { generation }),
    );
  const alarms = async (name: GatewayName) => (await topology.client(name).status(signal)).alarms;

  test('two active gateways that see each other raise an alarm on both, until one yields', async () => {
    await topology.startAgents();
    await push(1);
    // Adverts reach the agent's table, which counts them, and are dropped before keepalived.
    const droppedAdverts =
      'table inet droppedAdverts {\nchain last {\ntype filter hook input priority 10;\nmeta l4proto 112 drop\n}\n}\n';
    for (const name of gateways)
      await topology.network.run(name, ['nft', '-f', '-'], droppedAdverts);
    for (const name of gateways) {
      await waitFor(`the alarm on ${name}`, async () =>
        (await alarms(name)).some((text) => text.startsWith('two-active')),
      );
    }
    for (const name of gateways) {
      await topology.network.run(name, ['nft', 'delete', 'table', 'inet', 'droppedAdverts']);
    }
    await waitFor('one active gateway', () => topology.active());
    for (const name of gateways) {
      await waitFor(
        `the alarm to be over on ${name}`,
        async () => (await alarms(name)).length === 0,
      );
    }
  });

  test('a foreign machine that uses a virtual address raises an alarm, by ARP and by IPv6', async () => {
    await topology.startAgents();
    const frontends = ['10.77.1.1', '2001:db8:77::1:1'].map((address) =>
      frontend(address, 'UDP', ['p1']),
    );
    await topology.push(writeState({ ...nothing, frontends }, { generation: 2 }));
    const active = await waitFor('one active gateway', () => topology.active());
    // The client uses the addresses as its own, and announces them when its hardware address changes.
    await topology.network.sysctl('c', 'net.ipv4.conf.ext.arp_notify', 1);
    await topology.network.sysctl('c', 'net.ipv6.conf.ext.ndisc_notify', 1);
    for (const stolen of ['10.77.1.1/32', '2001:db8:77::1:1/128']) {
      await topology.network.ip('c', `address add ${stolen} dev ext nodad`);
    }
    let turn = 0;
    await waitFor('the alarm about both', async () => {
      turn = (turn + 1) % 256;
      const octet = turn.toString(16).padStart(2, '0');
      await topology.network.ip('c', `link set ext address 02:00:00:00:00:${octet}`);
      const said = await alarms(active);
      return said.some((alarm) => /^duplicate-address: .*, and 1 more/.test(alarm));
    });
    for (const stolen of ['10.77.1.1/32', '2001:db8:77::1:1/128']) {
      await topology.network.ip('c', `address del ${stolen} dev ext`);
    }
  });

  test('addresses are removed from the link when keepalived ended and is not restarted', async () => {
    const changes = { addresses: { start: 'external' } };
    // keepalived still runs from the previous test, like after an upgrade of the agent.
    await topology.startAgents(changes);
    const active = await waitFor('one active gateway', () => topology.active());
    const onLink = () => topology.network.ip(active, '-brief address show dev ext');
    expect(await onLink()).toContain('10.77.1.1/32');
    const role = async () => (await topology.client(active).status(signal)).announcer;
    await faults[0]?.strike(topology, active);
    // Only the agent removes them, and it first reports that it is no longer active.
    await waitFor('the address to be gone', async () => !(await onLink()).includes('10.77.1.1/32'));
    expect(await role()).toMatchObject({ role: 'unable', reason: 'keepalived does not run' });
  });

  test('rules without kernel ownership are restored at once when another process flushes them', async () => {
    const nftables = { driver: 'nft', localSources: ['10.78.0.0/24', '10.79.0.0/16'] };
    // Left by the other driver: nft 1.0.6 can't continue with a table that calls slots marks.
    await topology.network.run('g1', ['nft', 'flush', 'ruleset']);
    await topology.startAgent('g1', { nftables });
    const frontends = [
      frontend('10.77.1.1', 'TCP', ['p1', 'p2']),
      frontend('10.77.1.2', 'TCP', [], { destinations: undefined, routedTo: 'nodes' }),
    ];
    const nodes = [{ address: parseAddress('10.78.0.21') }];
    const { generation } = await topology.client('g1').status(signal);
    const lines = writeState({ ...nothing, frontends, nodes }, { generation: generation + 1 });
    await topology.client('g1').push([...lines], signal);
    const rules = async () => {
      const listing = await topology.network.run('g1', ['nft', '-s', 'list', 'ruleset']);
      return listing.split('\n').sort().join('\n');
    };
    const before = await rules();
    expect(before).toContain('causeway-routed4');
    for (const words of ['flush ruleset', 'delete table ip causeway-routed4']) {
      await topology.network.run('g1', ['nft', ...words.split(' ')]);
      await waitFor(`the rules after ${words}`, async () => (await rules()) === before);
    }
  });

  test('links that accept router advertisements keep accepting them although they forward', async () => {
    await topology.network.sysctl('g2', 'net.ipv6.conf.all.forwarding', 0);
    await topology.network.sysctl('g2', 'net.ipv6.conf.ext.accept_ra', 1);
    await topology.network.sysctl('g2', 'net.ipv6.conf.int.accept_ra', 0);
    await topology.startAgent('g2');
    const setting = async (name: string) =>
      (await topology.network.run('g2', ['sysctl', '-n', `net.ipv6.conf.${name}`])).trim();
    expect(await setting('all.forwarding')).toBe('1');
    expect(await setting('ext.accept_ra')).toBe('2');
    expect(await setting('int.accept_ra')).toBe('0');
  });
});
