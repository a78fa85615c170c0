import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import {
  insideDevice,
  Node,
  NodeProxy,
  nodePort,
  virtual6,
  webService,
  webSlices,
} from './node.ts';

describe.runIf(canUseNamespaces())('connections to an idle Service', () => {
  let node: Node;
  let proxy: NodeProxy;
  beforeAll(async () => {
    node = await Node.create();
    await node.startPod();
    proxy = await NodeProxy.start(node);
  });
  afterAll(async () => {
    await proxy?.stop();
    await node?.remove();
  });

  const sleep = () => proxy.apply(webService(true), webSlices(false));
  const wake = () => proxy.apply(webService(true), webSlices(true));
  const waiting = (count: number) =>
    waitFor(`${count} to wait`, () => proxy.holder.waiting('shop/web') >= count);

  it.each([
    ['from a pod, with its own address', 'clientPod', {}, '10.1.1.2'],
    ['from a pod over IPv6', 'clientPod', { address: virtual6 }, 'fd00:1::2'],
    ['from the node itself', 'host', {}, undefined],
    [
      'from outside, to a node port',
      'outside',
      { address: '192.0.2.1', port: nodePort },
      undefined,
    ],
    ['with UDP, from a pod', 'clientPod', { protocol: 'UDP' }, 'hello 10.1.1.2'],
    ['with UDP over IPv6', 'clientPod', { protocol: 'UDP', address: virtual6 }, 'hello fd00:1::2'],
  ] as const)('are served after it wakes: %s', async (_, from, order, seen) => {
    await sleep();
    const { result } = await node.clients(node[from], { count: 3, ...order });
    await waiting(3);
    await wake();
    const { served, errors, seen: addresses } = await result;
    expect({ served, errors }).toEqual({ served: 3, errors: {} });
    if (seen !== undefined) expect(addresses).toEqual({ [seen]: 3 });
  });

  it.each([1_000, 10_000])('%i at once', async (count) => {
    await sleep();
    const { result } = await node.clients(node.clientPod, { count });
    await waiting(count);
    await wake();
    const { served, errors } = await result;
    expect({ served, errors }).toEqual({ served: count, errors: {} });
  });

  it('that come continually are never refused while it is idled and woken repeatedly', async () => {
    await wake();
    // The test stops them when it has enough, so that slow machines work, too.
    const order = { count: 100_000, everyMs: 20, limitMs: 800_000 };
    const { result, enough } = await node.clients(node.clientPod, order);
    for (let round = 0; round < 25; round += 1) {
      await sleep();
      await waiting(1);
      await wake();
    }
    enough();
    const { served, errors } = await result;
    expect(errors).toEqual({});
    expect(served).toBeGreaterThanOrEqual(25);
  });

  it('are refused, not dropped, if a Service is empty and not idle', async () => {
    // Another one of the same name, which was never idle.
    proxy.objects.removeService('shop/web');
    await proxy.apply(webService(false), webSlices(false));
    const { result } = await node.clients(node.clientPod, { count: 2 });
    expect(await result).toMatchObject({ served: 0, errors: { ECONNREFUSED: 2 } });
  });

  it('are checked by a policy on their way to the pod, like any other', async () => {
    await node.host.loadRules(`table inet judge {
      chain forward {
        type filter hook forward priority 0;
        ip saddr 10.1.1.2 ip daddr 10.1.2.2 counter reject with tcp reset
      }
    }`);
    await sleep();
    const { result } = await node.clients(node.clientPod, { count: 2 });
    await waiting(2);
    await wake();
    expect(await result).toMatchObject({ served: 0, errors: { ECONNREFUSED: 2 } });
    await node.host.run('nft', 'delete', 'table', 'inet', 'judge');
  });

  it('wait while the proxy is killed, and are served by the next one', async () => {
    await sleep();
    const { result } = await node.clients(node.clientPod, { count: 50 });
    await waiting(50);
    await proxy?.stop();
    proxy = await NodeProxy.start(node);
    await sleep();
    await waiting(50);
    await wake();
    const { served, errors } = await result;
    expect({ served, errors }).toEqual({ served: 50, errors: {} });
  });
});

describe.runIf(canUseNamespaces())('if pods are identified by their interface', () => {
  let node: Node;
  let proxy: NodeProxy;
  beforeAll(async () => {
    node = await Node.create();
    await node.startPod();
    const insiders = { networks: [], interfaces: ['front', insideDevice] };
    proxy = await NodeProxy.start(node, () => {}, insiders);
  });
  afterAll(async () => {
    await proxy?.stop();
    await node?.remove();
  });

  it.each([
    ['a pod that wakes a Service keeps its own address', 'clientPod', '10.1.1.2'],
    ['an external client is masqueraded, like with an awake Service', 'outside', '10.1.2.1'],
  ] as const)('%s', async (_, from, seen) => {
    await proxy.apply(webService(true), webSlices(false));
    const { result } = await node.clients(node[from], { count: 3 });
    await waitFor('them to wait', () => proxy.holder.waiting('shop/web') >= 3);
    await proxy.apply(webService(true), webSlices(true));
    expect(await result).toMatchObject({ served: 3, errors: {}, seen: { [seen]: 3 } });
    const awake = await node.clients(node[from], { count: 3 });
    expect(await awake.result).toMatchObject({ served: 3, errors: {}, seen: { [seen]: 3 } });
  });
});
