import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAddress } from '../../packages/base/src/address/address.ts';
import { parsePort } from '../../packages/base/src/address/port.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import { endpointSlices, services } from '../../packages/kubernetes/src/objects/resources.ts';
import type { ServiceProcess } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';
import { ApiServerProxy, type ProxyMode } from './api-server-proxy.ts';
import { GatewayProcesses, untilServes, type AgentProcess } from './gateway-processes.ts';

// The API server behind the controller's address answers wrongly, while the controller runs and at its start.

const { signal } = new AbortController();
const names = ['a', 'b', 'c'];
let processes: GatewayProcesses;
let other: EmbeddedKubernetes;
let proxy: ApiServerProxy;
let agent: AgentProcess;
let controller: ServiceProcess;
let addresses: string[];
let lateServices = 0;

beforeAll(async () => {
  processes = await GatewayProcesses.prepare('wrong-api-server');
  other = await startEmbeddedKubernetes();
  proxy = await ApiServerProxy.start(processes.kubernetes, other);
  agent = await processes.startAgent('g1');
  await createSlice('kubernetes');
  controller = await startController();
  await processes.create(names);
  for (const name of names) await createSlice(name);
  addresses = await processes.addressesOf(names);
  await untilServes(agent, addresses);
  for (const address of addresses) await untilForwarded(address);
});
afterAll(async () => {
  await proxy?.close();
  await other?.stop();
  await processes?.close();
});

const startController = () => processes.startController([agent], { server: proxy.url });

async function restartController(): Promise<void> {
  controller.kill('SIGKILL');
  await controller.exited;
  controller = await startController();
}

async function createSlice(name: string): Promise<void> {
  await processes.client.create(endpointSlices, {
    metadata: { namespace: 'default', name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.7'], conditions: { ready: true } }],
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
}

async function untilForwarded(address: string): Promise<void> {
  await waitFor(`${address} to lead to its backend`, async () => (await outcome(address)) === 'ok');
}

async function outcome(address: string): Promise<string> {
  const answer = await agent.agent.trace(
    {
      client: parseAddress('198.51.100.1'),
      clientPort: parsePort(40_000),
      address: parseAddress(address),
      protocol: 'TCP',
      port: parsePort(80),
    },
    signal,
  );
  return answer.destination === '10.0.0.7:8080' ? 'ok' : answer.because;
}

/** Gateways keep frontends and backends, and the status of each Service keeps its address. */
async function expectUnchanged(): Promise<void> {
  await untilServes(agent, addresses);
  for (const address of addresses) expect(await outcome(address)).toBe('ok');
  expect(await processes.addressesOf(names)).toEqual(addresses);
}

/** A new Service is served and a deleted one is not, without an operator. */
async function expectWorking(): Promise<void> {
  await waitFor('the controller to be ready', async () => {
    const text = await processes.readiness();
    if (!text.endsWith('\nready\n') && text !== 'ready\n') throw new Error(text);
    return true;
  });
  // The Service of an earlier call can still be waiting for its finalizer.
  const late = `late${++lateServices}`;
  await processes.create([late]);
  await untilServes(agent, await processes.addressesOf([...names, late]));
  await processes.client.delete(services, { namespace: 'default', name: late });
  await untilServes(agent, addresses);
  expect(await agent.agent.status(signal)).toMatchObject({ withheld: [], alarms: [] });
}

const untilReadyzSays = (cause: string) =>
  waitFor(`/readyz to say ${cause}`, async () => {
    const text = await processes.readiness();
    if (!text.includes(cause)) throw new Error(text);
    return true;
  });

const untilWithheld = (reason: string) =>
  waitFor('the agent to withhold the removals', async () => {
    const { withheld = [] } = await agent.agent.status(signal);
    return withheld.filter((each) => each.reason.includes(reason)).length === names.length;
  });

const lists: [ProxyMode, string][] = [
  ['empty-lists', 'lacks default/kubernetes, although the API server has it'],
  ['empty-slices', 'list of endpointslices.discovery.k8s.io lacks default/kubernetes'],
];

test.each(lists)('%s at the start of the controller change nothing', async (mode, cause) => {
  proxy.switchTo(mode);
  await restartController();
  await untilReadyzSays(cause);
  await expectUnchanged();
  proxy.switchTo('pass');
  await expectWorking();
});

test.each<ProxyMode>(['empty-lists', 'empty-slices', 'other-cluster'])(
  '%s while the controller runs change nothing',
  async (mode) => {
    proxy.switchTo(mode);
    await waitFor('wrong answers', () => proxy.wrongAnswers >= 3);
    await expectUnchanged();
    proxy.switchTo('pass');
    await expectWorking();
  },
);

test('the API server of another cluster at the start of the controller removes nothing', async () => {
  proxy.switchTo('other-cluster');
  await restartController();
  await untilWithheld('which comes from another cluster');
  await expectUnchanged();
  // The controller works for the first cluster that it finds.
  proxy.switchTo('pass');
  await restartController();
  await expectWorking();
});

test('an API server without any Service at the start of the controller removes nothing', async () => {
  proxy.switchTo('no-services');
  await restartController();
  await untilWithheld('the removal waits for a confirmation');
  await expectUnchanged();
  proxy.switchTo('pass');
  await expectWorking();
});

test('a Service that was deleted while no controller ran is removed without an operator', async () => {
  await processes.create(['short']);
  await untilServes(agent, await processes.addressesOf([...names, 'short']));
  controller.kill('SIGKILL');
  await controller.exited;
  const short = await processes.client.get(services, { namespace: 'default', name: 'short' });
  await processes.client.update(services, {
    ...short,
    metadata: { ...short.metadata, finalizers: [] },
  });
  await processes.client.delete(services, { namespace: 'default', name: 'short' });
  controller = await startController();
  await untilServes(agent, addresses);
});
