import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makeService,
  makeSlice,
} from '../../../packages/causeway/src/node-proxy/testing/objects.ts';
import type {
  Service,
  ServiceSpec,
} from '../../../packages/kubernetes/src/objects/core-objects.ts';
import type { Endpoint } from '../../../packages/kubernetes/src/objects/network-objects.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import type { Request } from '../nftables/lab.ts';
import { clientIp, endpoint, heard, nodeIp, nodeIp6, pods, ProxyLab } from './proxy-lab.ts';

const cluster: Request = { address: '10.96.0.1', port: 80 };
const nodePort: Request = { address: nodeIp, port: 30_080 };
const balancer: Request = { address: '198.51.100.2', port: 80 };
const external: Request = { address: '198.51.100.1', port: 80 };
const quickly = { timeoutMs: 700 };
const times = (count: number, request: Request) => Array.from({ length: count }, () => request);

function web(spec: ServiceSpec = {}): Service {
  return makeService({
    spec: {
      type: 'LoadBalancer',
      externalIPs: [external.address],
      ports: [{ port: 80, nodePort: 30_080, protocol: 'TCP' }],
      ...spec,
    },
    status: { loadBalancer: { ingress: [{ ip: balancer.address }] } },
  });
}

const slice = (...endpoints: Endpoint[]) => makeSlice({ endpoints });

describe.skipIf(!canUseNamespaces())('Services on a node, with real packets', () => {
  let lab: ProxyLab;
  const who = async (from: Parameters<ProxyLab['ask']>[0], ...requests: Request[]) =>
    (await lab.ask(from, ...requests)).map(heard);

  beforeAll(async () => {
    lab = await ProxyLab.create();
    await lab.startProxy();
    await lab.change((proxy) => proxy.synced());
  });
  afterAll(() => lab.remove());

  test('are reached at every address, from pods, from the node and from outside', async () => {
    await lab.serve(web(), slice(endpoint('p1')));
    const all = [cluster, external, balancer, nodePort];
    expect(await who('client', ...all)).toEqual(Array(4).fill('p1 10.1.1.5'));
    expect(await who('p2', cluster)).toEqual([`p1 ${pods.p2.v4}`]);
    expect(await who('p2', external, balancer, nodePort)).toEqual(Array(3).fill('p1 10.1.1.5'));
    expect(await who('node', ...all)).toEqual(Array(4).fill('p1 10.1.1.5'));
    // A pod reaches itself, and sees the node.
    expect(await who('p1', cluster, nodePort)).toEqual(Array(2).fill('p1 10.1.1.5'));
  });

  test('spread over their endpoints, on this node and others', async () => {
    await lab.serve(web(), slice(endpoint('p1'), endpoint('p2'), endpoint('remote')));
    const seen = new Set(await who('client', ...times(40, cluster)));
    expect(new Set([...seen].map((text) => text.split(' ')[0]))).toEqual(
      new Set(['p1', 'p2', 'remote']),
    );
  });

  test('lead to endpoints in the network of the node itself', async () => {
    await lab.listen('node', 'host', 9000);
    const host = { addresses: [nodeIp], nodeName: 'node1' };
    await lab.serve(web(), makeSlice({ endpoints: [host], ports: [{ port: 9000 }] }));
    const targets = [cluster, balancer, nodePort];
    for (const from of ['client', 'p1', 'node'] as const) {
      const answers = await who(from, ...targets);
      expect(answers.map((text) => text.split(' ')[0])).toEqual(['host', 'host', 'host']);
    }
    expect(await who('p1', cluster)).toEqual([`host ${pods.p1.v4}`]);
  });

  test('without endpoints refuse at once', async () => {
    await lab.serve(web(), slice());
    for (const from of ['client', 'p1', 'node'] as const) {
      const requests = [cluster, external, balancer, nodePort];
      expect(await who(from, ...requests)).toEqual(Array(4).fill('ECONNREFUSED'));
    }
    const undefinedPort = { ...cluster, port: 81 };
    expect(await who('p1', undefinedPort)).toEqual(['ECONNREFUSED']);
  });

  test("with externalTrafficPolicy Local keep the client's address and stay on the node", async () => {
    const local = web({ externalTrafficPolicy: 'Local' });
    await lab.serve(local, slice(endpoint('p1'), endpoint('remote')));
    const often = times(40, balancer);
    expect(new Set(await who('client', ...often, nodePort, external))).toEqual(
      new Set([`p1 ${clientIp}`]),
    );
    expect(new Set((await who('p2', ...often)).map((text) => text.split(' ')[0]))).toEqual(
      new Set(['p1', 'remote']),
    );
    await lab.serve(local, slice(endpoint('remote')));
    expect(await who('client', { ...balancer, ...quickly }, { ...nodePort, ...quickly })).toEqual([
      'timeout',
      'timeout',
    ]);
    expect(await who('p2', balancer)).toEqual([`remote ${pods.p2.v4}`]);
    expect(await who('node', balancer, nodePort)).toEqual([`remote ${nodeIp}`, `remote ${nodeIp}`]);
  });

  test('accept only their source ranges at load balancer addresses', async () => {
    const ranges = web({ loadBalancerSourceRanges: ['10.1.0.0/16'] });
    await lab.serve(ranges, slice(endpoint('p1')));
    expect(await who('client', { ...balancer, ...quickly }, nodePort)).toEqual([
      'timeout',
      'p1 10.1.1.5',
    ]);
    expect(await who('p2', balancer)).toEqual(['p1 10.1.1.5']);
  });

  test('keep the backend of a client over all addresses', async () => {
    const sticky = web({ sessionAffinity: 'ClientIP' });
    await lab.serve(sticky, slice(endpoint('p1'), endpoint('p2'), endpoint('remote')));
    const [first = ''] = await who('client', cluster);
    const [name = ''] = first.split(' ');
    const again = await who('client', ...times(8, cluster), nodePort, balancer);
    expect(new Set(again.map((text) => text.split(' ')[0]))).toEqual(new Set([name]));
    const others = (['p1', 'p2', 'remote'] as const).filter((pod) => pod !== name);
    await lab.serve(sticky, slice(...others.map((pod) => endpoint(pod))));
    const [moved = ''] = await who('client', cluster);
    expect(others).toContain(moved.split(' ')[0]);
  });

  test('work in IPv6', async () => {
    const dual = web({ clusterIPs: ['10.96.0.1', 'fd96::1'] });
    const six = makeSlice({
      name: 'web-6',
      addressType: 'IPv6',
      endpoints: [endpoint('p1', 'v6')],
    });
    await lab.serve(dual, six);
    const cluster6 = { address: 'fd96::1', port: 80 };
    const nodePort6 = { address: nodeIp6, port: 30_080 };
    expect(await who('client', cluster6, nodePort6)).toEqual([
      'p1 fd01:0:0:1::1',
      'p1 fd01:0:0:1::1',
    ]);
    expect(await who('p2', cluster6)).toEqual([`p1 ${pods.p2.v6}`]);
    await lab.change((proxy) => proxy.removeSlice('shop/web-6'));
    expect(await who('client', cluster6)).toEqual(['ECONNREFUSED']);
  });

  test('of UDP move a client that keeps sending from the same port', async () => {
    const ports = [{ port: 53, nodePort: 30_053, protocol: 'UDP' as const }];
    const udp = web({ ports });
    const endpoints = (...names: ('p1' | 'p2')[]) =>
      makeSlice({
        endpoints: names.map((name) => endpoint(name)),
        ports: [{ port: 8080, protocol: 'UDP' }],
      });
    const request = (localPort: number, target: Request): Request => ({
      ...target,
      protocol: 'UDP',
      localPort,
    });
    const toCluster = request(45_000, { address: '10.96.0.1', port: 53 });
    const toNodePort = request(45_001, { address: nodeIp, port: 30_053 });
    // Sent before there are rules for it.
    await lab.change((proxy) => proxy.removeService('shop/web'));
    await lab.ask('client', { ...toCluster, ...quickly }, { ...toNodePort, ...quickly });
    // Stale entries are deleted beside the rules, soon after their transaction.
    const answers = () =>
      who('client', { ...toCluster, ...quickly }, { ...toNodePort, ...quickly });
    await lab.serve(udp, endpoints('p1'));
    await expect.poll(answers).toEqual(['p1 10.1.1.5', 'p1 10.1.1.5']);
    await lab.serve(udp, endpoints('p2'));
    await expect.poll(answers).toEqual(['p2 10.1.1.9', 'p2 10.1.1.9']);
    await lab.serve(udp, endpoints());
    await expect.poll(answers).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });

  test('stay when the proxy ends, and the next proxy changes only differences', async () => {
    await lab.serve(web(), slice(endpoint('p1')));
    const list = () => lab.host('node').run('nft', '-n', 'list', 'table', 'inet', 'causeway-proxy');
    const before = await list();
    await lab.stopProxy();
    expect(await who('client', cluster)).toEqual(['p1 10.1.1.5']);
    await lab.startProxy();
    await lab.change((proxy) => {
      proxy.setService(web());
      proxy.setSlice(slice(endpoint('p1')));
      proxy.synced();
    });
    const withoutCounts = (text: string) => text.replaceAll(/packets \d+ bytes \d+/g, '');
    expect(withoutCounts(await list())).toBe(withoutCounts(before));
    expect(await who('client', cluster)).toEqual(['p1 10.1.1.5']);
  });

  test('keep TCP connections to a removed endpoint', async () => {
    await lab.serve(web(), slice(endpoint('p1')));
    const running = lab.ask('client', { ...cluster, say: 'download 60', timeoutMs: 20_000 });
    await lab
      .host('p1')
      .run('sh', '-c', 'until ss -Htn state established | grep -q :8080; do :; done');
    await lab.serve(web(), slice(endpoint('p2')));
    const [answer] = await running;
    expect(answer).toMatchObject({ bytes: 60 * 16_384 });
    expect(answer?.error).toBeUndefined();
    expect(await who('client', cluster)).toEqual(['p2 10.1.1.9']);
  });
});
