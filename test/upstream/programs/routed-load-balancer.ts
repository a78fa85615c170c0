// The smallest working load balancer: an address for each Service, routed to the nodes, where the proxy
// handles it. Runs on the router. A failure with it comes from the proxy.
//
// routed-load-balancer.ts KUBECONFIG

import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../../packages/kubernetes/src/client/connection.ts';
import type { Node, Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import type { ObjectName } from '../../../packages/kubernetes/src/objects/object.ts';
import { nodes, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { runProgram } from '../../services/run-program.ts';

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const pool = Array.from({ length: 250 }, (_, at) => `198.51.100.${at + 1}`);
const kubeconfig = process.argv[2] ?? '';
const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
const client = new KubeClient({
  transport: new HttpTransport(connection, systemClock),
  clock: systemClock,
});
/** By the Service's UID. */
const addresses = new Map<string, string>();
/** Last next hop of each address. */
const routes = new Map<string, string>();

await run();

async function run(): Promise<never> {
  for (;;) {
    await check().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    await delay(500);
  }
}

async function check(): Promise<void> {
  const ready: string[] = [];
  for await (const node of client.list(nodes)) {
    const address = addressOf(node);
    if (address !== undefined) ready.push(address);
  }
  const wanted = new Map<string, string[]>();
  const alive = new Set<string>();
  for await (const service of client.list(services)) {
    if (!isOurs(service)) {
      await release(service);
      continue;
    }
    const uid = service.metadata?.uid ?? '';
    alive.add(uid);
    const address = addresses.get(uid) ?? shown(service) ?? freeAddress();
    addresses.set(uid, address);
    wanted.set(address, await nextHops(service, ready));
    await serve(service, address);
  }
  for (const [address, hops] of wanted) await route(address, hops);
  for (const address of [...routes.keys()].filter((known) => !wanted.has(known))) {
    await route(address, []);
  }
  for (const uid of [...addresses.keys()].filter((known) => !alive.has(known))) {
    addresses.delete(uid);
  }
}

function isOurs({ metadata, spec }: Service): boolean {
  return (
    spec?.type === 'LoadBalancer' &&
    spec.loadBalancerClass === undefined &&
    metadata?.deletionTimestamp === undefined
  );
}

function nameOf({ metadata }: Service): ObjectName {
  return { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
}

function shown({ status }: Service): string | undefined {
  return status?.loadBalancer?.ingress?.map(({ ip }) => ip ?? '').find((ip) => pool.includes(ip));
}

function freeAddress(): string {
  const taken = new Set(addresses.values());
  const free = pool.find((address) => !taken.has(address));
  if (free === undefined) throw new Error('no address is free');
  return free;
}

async function release(service: Service): Promise<void> {
  const finalizers = service.metadata?.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return;
  const nothing = { status: { loadBalancer: null } };
  if (shown(service) !== undefined) {
    await client.patchMerge(services, nameOf(service), nothing, { subresource: 'status' });
  }
  const others = finalizers.filter((name) => name !== finalizer);
  await client.patchMerge(services, nameOf(service), { metadata: { finalizers: others } });
}

async function serve(service: Service, address: string): Promise<void> {
  const finalizers = service.metadata?.finalizers ?? [];
  if (!finalizers.includes(finalizer)) {
    const all = [...finalizers, finalizer];
    await client.patchMerge(services, nameOf(service), { metadata: { finalizers: all } });
  }
  if (shown(service) === address) return;
  const ingress = [{ ip: address, ipMode: 'VIP' }];
  const status = { status: { loadBalancer: { ingress } } };
  await client.patchMerge(services, nameOf(service), status, { subresource: 'status' });
}

function addressOf({ metadata, status }: Node): string | undefined {
  const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';
  if (metadata?.labels?.[excluded] !== undefined) return undefined;
  const isReady = status?.conditions?.some(
    (each) => each.type === 'Ready' && each.status === 'True',
  );
  if (isReady !== true) return undefined;
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}

async function nextHops({ spec }: Service, ready: readonly string[]): Promise<string[]> {
  const hops: string[] = [];
  for (const node of ready) {
    const port = spec?.healthCheckNodePort;
    if (spec?.externalTrafficPolicy !== 'Local' || (await isHealthy(node, port))) hops.push(node);
  }
  return spec?.sessionAffinity === 'ClientIP' ? hops.slice(0, 1) : hops.sort();
}

async function isHealthy(node: string, port: number | undefined): Promise<boolean> {
  try {
    const answer = await request(`http://${node}:${port}/healthz`, { headersTimeout: 1_000 });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}

async function route(address: string, hops: readonly string[]): Promise<void> {
  const words = hops.flatMap((hop) => ['nexthop', 'via', hop]);
  if (routes.get(address) === words.join(' ')) return;
  const unreachable = ['unreachable', `${address}/32`];
  if (hops.length === 0) {
    await runProgram('ip', ['route', 'del', `${address}/32`]);
    await runProgram('ip', ['route', 'replace', ...unreachable]);
  } else {
    await runProgram('ip', ['route', 'replace', `${address}/32`, ...words]);
    await runProgram('ip', ['route', 'del', ...unreachable]);
  }
  routes.set(address, words.join(' '));
}
