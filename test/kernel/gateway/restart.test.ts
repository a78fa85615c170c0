import fs from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import type { Frontend } from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import type { Outage } from './faults.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology, type GatewayName } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

describe.skipIf(!isRunnable)('an agent that is killed and restarted', () => {
  let topology: Topology;
  let generation = 0;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents();
  });
  afterAll(() => topology.stop());

  async function push(name: GatewayName, ...frontends: Frontend[]): Promise<void> {
    generation += 1;
    const lines = writeState({ ...nothing, frontends }, { generation });
    await topology.client(name).push([...lines], signal);
  }

  test('causes no outage, without the controller', async () => {
    await push('g1', frontend('10.77.1.1', 'UDP', ['p1', 'p2']));
    generation -= 1;
    await push('g2', frontend('10.77.1.1', 'UDP', ['p1', 'p2']));
    const attempting = await topology.startClient('c', 'timeout', 80, '10.77.1.1');
    const active = await waitFor('one active gateway', () => topology.active());
    await topology.killAgent(active);
    await topology.startAgent(active);
    attempting.stop();
    const [outage] = await attempting.result<Outage[]>();
    expect(outage?.lostInARow).toBeLessThan(100);
    expect(await waitFor('one active gateway', () => topology.active())).toBe(active);
    expect((await topology.client(active).status(signal)).generation).toBe(generation);
  });

  test('gracefully, under load, loses no new connection', async () => {
    const name = await waitFor('one active gateway', () => topology.active());
    const served = frontend('10.77.1.1', 'TCP', ['p1', 'p2']);
    await push(name, served);
    const connecting = await topology.startClient('c', 'connect', '10.77.1.1', 80, 2_000);
    for (let round = 0; round < 5; round += 1) {
      await topology.stopAgent(name);
      await topology.startAgent(name, { probe: { intervalMs: 500 } });
      await push(name, served, frontend('10.77.1.2', 'TCP', ['p1', 'p2']));
      await push(name, served);
    }
    connecting.stop();
    const { asked, failures } = await connecting.result<{ asked: number; failures: string[] }>();
    expect(asked).toBeGreaterThan(50);
    expect(failures).toEqual([]);
  });

  test('at any moment of an apply, serves the old or the new configuration and nothing in between', async () => {
    const name = await waitFor('one active gateway', () => topology.active());
    const old = [
      frontend('10.77.1.1', 'TCP', ['p1', 'p2']),
      frontend('10.77.1.2', 'TCP', ['p1']),
      frontend('2001:db8:77::1:2', 'TCP', ['p1']),
    ];
    // One changed, one removed with its address, one added with a new address, one unchanged.
    const wanted = [
      frontend('10.77.1.1', 'TCP', ['p2']),
      frontend('2001:db8:77::1:2', 'TCP', ['p1']),
      frontend('10.77.1.3', 'TCP', ['n1']),
    ];
    await push(name, ...wanted);
    const afterwards = await topology.describe(name);
    await push(name, ...old);
    const before = await topology.describe(name);
    expect(before).not.toBe(afterwards);
    const started = performance.now();
    await push(name, ...wanted);
    const applyMs = performance.now() - started;
    await push(name, ...old);

    const seen = new Set<string>();
    const moments = 7;
    for (let moment = 0; moment <= moments; moment += 1) {
      const answer = push(name, ...wanted).then(
        () => true,
        () => false,
      );
      await delay((moment * 1.2 * applyMs) / moments);
      await topology.killAgent(name);
      const isAcknowledged = await answer;
      await topology.startAgent(name);
      const found = await topology.describe(name);
      expect([before, afterwards]).toContain(found);
      // Acknowledged updates are never lost.
      if (isAcknowledged) expect(found).toBe(afterwards);
      seen.add(found === before ? 'old' : 'new');
      generation = (await topology.client(name).status(signal)).generation;
      await push(name, ...old);
      expect(await topology.describe(name)).toBe(before);
    }
    expect(seen).toContain('old');
  });

  test('while drained, yields its addresses, and stays drained over a restart', async () => {
    const active = await waitFor('one active gateway', () => topology.active());
    const other = active === 'g1' ? 'g2' : 'g1';
    await topology.command(active, 'drain', '--reason', 'new disks');
    await waitFor('the other to be active', async () => (await topology.active()) === other);
    await topology.killAgent(active);
    await topology.startAgent(active);
    const status = await topology.client(active).status(signal);
    expect(status.drained?.reason).toBe('new disks');
    // keepalived does not report its state again to the new agent.
    expect(status.announcer).toMatchObject({ role: 'unable', reason: 'drained: new disks' });
    expect(await waitFor('one active gateway', () => topology.active())).toBe(other);
    const [printed] = JSON.parse(await topology.command(active, 'undrain', '-o', 'json')) as {
      drained: unknown;
    }[];
    expect(printed?.drained).toBeNull();
    await waitFor('the role standby', async () => {
      const { announcer } = await topology.client(active).status(signal);
      return announcer.role === 'standby';
    });
    expect(await waitFor('one active gateway', () => topology.active())).toBe(other);
  });

  test("between writing keepalived's file and the reload, reloads keepalived afterwards", async () => {
    const name = await waitFor('one active gateway', () => topology.active());
    generation = (await topology.client(name).status(signal)).generation;
    const config = topology.runtimeFile(name, 'keepalived.conf');
    await push(name, frontend('10.77.1.1', 'TCP', ['p1']));
    const accepted = await fs.readFile(config, 'utf8');
    const onLink = () => topology.network.ip(name, '-brief address show dev ext');
    await topology.killAgent(name);
    // As if it had ended in between: keepalived has the address, and the file no longer does.
    const wider = accepted.replace('10.77.1.1/32 dev ext', '$&\n    10.77.1.9/32 dev ext');
    await fs.writeFile(config, wider);
    const pid = await fs.readFile(topology.runtimeFile(name, 'keepalived.pid'), 'utf8');
    process.kill(Number(pid), 'SIGHUP');
    await waitFor('keepalived to take it', async () => (await onLink()).includes('10.77.1.9/32'));
    await fs.writeFile(config, accepted);
    await fs.writeFile(`${config}.loaded`, wider);
    await topology.startAgent(name);
    await waitFor('the address to go', async () => !(await onLink()).includes('10.77.1.9/32'));
    expect(await waitFor('one active gateway', () => topology.active())).toBe(name);
    expect((await topology.client(name).status(signal)).announcer.role).toBe('active');
  });

  test('undo restores the previous state, and updates are rejected until it is unfrozen', async () => {
    const name = await waitFor('one active gateway', () => topology.active());
    generation = (await topology.client(name).status(signal)).generation;
    await push(name, frontend('10.77.1.1', 'TCP', ['p1']));
    const before = await topology.describe(name);
    await push(name, frontend('10.77.1.1', 'TCP', ['p2']));
    await topology.command(name, 'undo', '--reason', 'bad release');
    expect(await topology.describe(name)).toBe(before);
    generation += 5;
    await expect(push(name, frontend('10.77.1.1', 'TCP', ['n1']))).rejects.toMatchObject({
      reason: 'frozen',
    });
    await topology.command(name, 'thaw');
    await push(name, frontend('10.77.1.1', 'TCP', ['n1']));
  });
});
