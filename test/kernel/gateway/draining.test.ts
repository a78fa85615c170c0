import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import {
  makeFrontend,
  type Frontend,
} from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing, type ServerName } from './services.ts';
import { serverPort, servers, Topology, type RunningClient } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
const addresses = ['10.77.1.1', '10.77.1.2', '2001:db8:77::1:1', '2001:db8:77::1:2'] as const;

describe.skipIf(!isRunnable)('running TCP connections', () => {
  let topology: Topology;
  let generation = 0;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents({ probe: { intervalMs: 500 } });
  });
  afterAll(() => topology.stop());

  /** The backends of four frontends: pods and node ports, in both families. */
  async function serve(
    pods: readonly ServerName[],
    nodes: readonly ServerName[],
    draining?: ServerName,
  ): Promise<void> {
    const left = draining === undefined ? [] : [servers[draining].v4, servers[draining].v6];
    const leaving = new Set<string>(left);
    const drain = (of: Frontend): Frontend => ({
      ...of,
      destinations: of.destinations.map((to) =>
        leaving.has(to.address) ? { ...to, weight: 0 } : to,
      ),
    });
    const nodePorts = ['10.77.1.2', '2001:db8:77::1:2'].map((address) =>
      makeFrontend({
        address: parseAddress(address),
        protocol: 'TCP',
        port: parsePort(80),
        nodePort: parsePort(serverPort),
      }),
    );
    const frontends = [
      drain(frontend('10.77.1.1', 'TCP', pods)),
      ...nodePorts,
      drain(frontend('2001:db8:77::1:1', 'TCP', pods)),
    ];
    generation += 1;
    const shared = nodes
      .flatMap((name) => [servers[name].v4, servers[name].v6])
      .map((address) => ({ address: parseAddress(address) }));
    await topology.push(writeState({ ...nothing, frontends, nodes: shared }, { generation }));
  }

  const start = (): Promise<RunningClient[]> =>
    Promise.all(
      addresses.flatMap((address) =>
        (['down', 'up'] as const).map((verb) =>
          topology.startClient('c', verb, address, 80, 10, 1_000_000, 8_000),
        ),
      ),
    );
  const whole = addresses.flatMap(() => Array.from({ length: 2 }, () => ({ whole: 10, of: 10 })));
  const answeredBy = async (address: string, expected: string) =>
    waitFor(`${address} to be answered by ${expected}`, async () => {
      const answers = await topology.ask<string[]>('c', 'who', address, 80, 20);
      return (
        [...new Set(answers.map((text) => text.split(' ')[0] ?? ''))].sort().join() === expected
      );
    });

  test('continue on a pod and on a node that the controller removes', async () => {
    await serve(['p1', 'p2'], ['n1', 'n2']);
    await answeredBy('10.77.1.1', 'p1,p2');
    const running = await start();
    await serve(['p2'], ['n2']);
    await answeredBy('10.77.1.1', 'p2');
    for (const address of ['10.77.1.2', '2001:db8:77::1:2']) await answeredBy(address, 'n2');
    expect(await Promise.all(running.map((each) => each.result()))).toEqual(whole);
  });

  test('continue on a draining pod after a failover, if the server sends', async () => {
    await serve(['p1', 'p2'], ['n1', 'n2']);
    await answeredBy('10.77.1.1', 'p1,p2');
    const downloads = await Promise.all(
      ['10.77.1.1', '2001:db8:77::1:1'].map((address) =>
        topology.startClient('c', 'down', address, 80, 10, 1_000_000, 12_000),
      ),
    );
    await serve(['p1', 'p2'], ['n1', 'n2'], 'p1');
    await answeredBy('10.77.1.1', 'p2');
    const active = await waitFor('one active gateway', () => topology.active());
    await topology.cutPower(active);
    const whole10 = { whole: 10, of: 10 };
    expect(await Promise.all(downloads.map((each) => each.result()))).toEqual([whole10, whole10]);
    await topology.restorePower(active);
    await waitFor('both gateways to answer', async () => {
      const states = await Promise.all(
        (['g1', 'g2'] as const).map((name) => topology.client(name).status(signal)),
      );
      return states.every(({ announcer }) => ['active', 'standby'].includes(announcer.role));
    });
  });

  test('continue on a pod that drops SYNs until its probes fail', async () => {
    await serve(['p1', 'p2'], ['n1', 'n2']);
    await answeredBy('10.77.1.1', 'p1,p2');
    const running = await start();
    const overload =
      'table inet overload {\n chain in {\n type filter hook input priority 0;\n tcp flags & (syn|ack) == syn drop\n }\n }\n';
    await topology.network.run('p1', ['nft', '-f', '-'], overload);
    await waitFor('p1 to be unhealthy on both gateways', async () => {
      const states = await Promise.all(
        (['g1', 'g2'] as const).map((name) => topology.client(name).status(signal)),
      );
      return states.every(({ unhealthy }) => unhealthy.acted.includes(parseAddress(servers.p1.v4)));
    });
    expect(await Promise.all(running.map((each) => each.result()))).toEqual(whole);
    await topology.network.run('p1', ['nft', 'delete', 'table', 'inet', 'overload']);
  });
});
