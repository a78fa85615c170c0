import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { Node, nodePort, virtual6 } from './node.ts';

const toNodePort = { address: '192.0.2.1', port: nodePort };

describe.runIf(canUseNamespaces())('a Service with accepted connections while it is idle', () => {
  let node: Node;
  beforeAll(async () => {
    node = await Node.create();
    await node.startPod();
  });
  afterAll(() => node?.remove());

  const listed = (set: string) =>
    node.host.run('nft', 'list', 'set', 'inet', 'causeway-proxy', set);
  /** First packets to the Service so far. */
  const tries = async () => {
    const counts = (await listed('counts4')) + (await listed('counts6'));
    const packets = [...counts.matchAll(/tcp \. \d+ counter packets (\d+)/g)];
    return packets.reduce((sum, [, number]) => sum + Number(number), 0);
  };
  const proxies = new Set<ChildProcess>();
  const start = async (...confinement: string[]) => {
    const proxy = await node.startAcceptingProxy(...confinement);
    proxies.add(proxy);
    return proxy;
  };
  const kill = async (proxy: ChildProcess) => {
    proxies.delete(proxy);
    proxy.kill('SIGKILL');
    await once(proxy, 'exit');
  };
  // A connection left by a failed test would keep the table.
  afterEach(async () => {
    for (const proxy of proxies) await kill(proxy);
  });

  it('is connected to at once, answers after waking, and is woken by UDP too', async () => {
    const proxy = await start();
    const early = await node.clients(node.clientPod, { count: 20 });
    const datagrams = await node.clients(node.clientPod, { count: 2, protocol: 'UDP' });
    await early.connected;
    proxy.kill('SIGUSR1');
    const { served, errors, seen } = await early.result;
    expect({ served, errors }).toEqual({ served: 20, errors: {} });
    // The accepting proxy connects on behalf of the client.
    expect(Object.keys(seen)).toEqual(['10.1.2.1']);
    expect(await datagrams.result).toMatchObject({ served: 2, seen: { 'hello 10.1.1.2': 2 } });
    const late = await node.clients(node.clientPod, { count: 2 });
    expect(await late.result).toMatchObject({ served: 2, seen: { '10.1.1.2': 2 } });
  });

  it('is not reached at the port of its listener by connections that were not redirected there', async () => {
    const proxy = await start();
    const [, port] = /tcp \. (\d+)/.exec(await listed('listeners')) ?? [];
    for (const address of ['192.0.2.1', 'fd00:3::1']) {
      const { result } = await node.clients(node.outside, { count: 2, address, port });
      expect(await result).toMatchObject({ served: 0, errors: { ECONNREFUSED: 2 } });
    }
    const led = await node.clients(node.outside, { count: 2, ...toNodePort });
    await led.connected;
    proxy.kill('SIGUSR1');
    expect(await led.result).toMatchObject({ served: 2, errors: {} });
  });

  it.each([
    ['from a pod', 'clientPod', {}],
    ['from a pod over IPv6', 'clientPod', { address: virtual6 }],
    ['from the node itself', 'host', {}],
    ['from outside', 'outside', toNodePort],
  ] as const)('refuses no connection after its proxy was killed: %s', async (_, from, order) => {
    await kill(await start());
    const before = await tries();
    const { result, connected } = await node.clients(node[from], { count: 5, ...order });
    // Each packet was seen by rules that lead to a listener that no longer exists.
    await waitFor('them to have tried', async () => (await tries()) >= before + 5);
    const next = await start();
    await connected;
    next.kill('SIGUSR1');
    const { served, errors } = await result;
    expect({ served, errors }).toEqual({ served: 5, errors: {} });
  });

  it.each([
    ['from a pod', {}],
    ['from a pod over IPv6', { address: virtual6 }],
  ] as const)('accepts connections that were parked before: %s', async (_, order) => {
    const proxy = await node.startParkingProxy();
    proxies.add(proxy);
    await waitFor('the device for replays', () =>
      node.host.ip('link', 'show', 'causeway-hold').then(
        () => true,
        () => false,
      ),
    );
    const before = await tries();
    const { result, connected } = await node.clients(node.clientPod, { count: 5, ...order });
    await waitFor('them to have tried', async () => (await tries()) >= before + 5);
    proxy.kill('SIGHUP');
    await connected;
    proxy.kill('SIGUSR1');
    const { served, errors } = await result;
    expect({ served, errors }).toEqual({ served: 5, errors: {} });
  });

  it('releases the entries of clients that disappeared', async () => {
    await start();
    const [, port] = /tcp \. (\d+)/.exec(await listed('listeners')) ?? [];
    const accepted = async () => {
      const open = await node.host.run('ss', '-Htn', 'state', 'established', `sport = :${port}`);
      return open.split('\n').filter((line) => line !== '').length;
    };
    await (await node.clients(node.clientPod, { count: 3 })).connected;
    await waitFor('them to be accepted', async () => (await accepted()) === 3);
    await node.clientPod.loadRules(`table inet cut {
        chain in { type filter hook input priority 0; policy drop; }
        chain out { type filter hook output priority 0; policy drop; }
      }`);
    await waitFor('them to be given up', async () => (await accepted()) === 0);
    await node.clientPod.run('nft', 'delete', 'table', 'inet', 'cut');
  });

  it('refuses when it is out of file descriptors, and continues when it has some again', async () => {
    const proxy = await start('prlimit', '--nofile=320');
    let said = '';
    proxy.stdout?.on('data', (text: string) => (said += text));
    const accepted = (count: number) =>
      waitFor(`${count} to be accepted`, () => said.split('accepted').length > count);
    const toggleDescriptors = async (word: string) => {
      proxy.kill('SIGUSR2');
      await waitFor(word, () => said.includes(word));
    };
    const early = await node.clients(node.clientPod, { count: 10 });
    await accepted(10);
    await toggleDescriptors('taken');
    const crowd = { count: 50, limitMs: 20_000 };
    const refused = await (await node.clients(node.clientPod, crowd)).result;
    // Reset, or closed without data; a client that got a freed descriptor waits.
    const { ECONNRESET = 0, unanswered = 0 } = refused.errors;
    expect(ECONNRESET + (refused.seen[''] ?? 0) + unanswered).toBe(50);
    expect(unanswered).toBeLessThan(50);
    await toggleDescriptors('given back');
    const late = await node.clients(node.clientPod, { count: 10 });
    await late.connected;
    proxy.kill('SIGUSR1');
    for (const { result } of [early, late]) {
      expect(await result).toMatchObject({ served: 10, errors: {}, seen: { '10.1.2.1': 10 } });
    }
    expect(proxy.exitCode).toBeNull();
  });
});
