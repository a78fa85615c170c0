import { afterAll, beforeAll, expect, test } from 'vitest';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { waitFor } from '../services/wait-for.ts';
import {
  addressesServedBy,
  GatewayProcesses,
  untilServes,
  type AgentProcess,
} from './gateway-processes.ts';

const { signal } = new AbortController();
let processes: GatewayProcesses;

beforeAll(async () => {
  processes = await GatewayProcesses.prepare('frozen-gateway');
});
afterAll(() => processes?.close());

const group = (name: string) => Array.from({ length: 25 }, (_, index) => `${name}${index}`);
const oldNames = group('old');
const newNames = group('new');

test('a gateway that was stopped while 25 Services were replaced and the controller was killed serves only the new ones', async () => {
  const agents = [await processes.startAgent('g1'), await processes.startAgent('g2')] as const;
  // The active gateway decides whether new Services are served, so the standby is stopped.
  const isStandby = async ({ agent }: AgentProcess) =>
    (await agent.status(signal)).announcer.role === 'standby';
  await waitFor('an active gateway and a standby', async () => {
    return (await isStandby(agents[0])) !== (await isStandby(agents[1]));
  });
  const [running, stopped] = (await isStandby(agents[1])) ? agents : [agents[1], agents[0]];
  const controller = await processes.startController(agents);
  await processes.create(oldNames);
  const before = await processes.addressesOf(oldNames);
  await untilServes(stopped, before);

  stopped.child.kill('SIGSTOP');
  // An update without removals waits in the socket of the stopped agent, so no removal arrives early.
  await processes.create(['extra']);
  const [extra = ''] = await processes.addressesOf(['extra']);
  await untilServes(running, [...before, extra].sort());
  for (const name of oldNames)
    await processes.client.delete(services, { namespace: 'default', name });
  await waitFor('the old Services to be gone', async () => {
    for await (const { metadata } of processes.client.list(services, { namespace: 'default' })) {
      if (metadata?.name?.startsWith('old') === true) return false;
    }
    return true;
  });
  await processes.create(newNames);
  const after = await processes.addressesOf([...newNames, 'extra']);
  await untilServes(running, after);

  controller.kill('SIGKILL');
  await controller.exited;
  stopped.child.kill('SIGCONT');
  expect(await addressesServedBy(stopped)).toEqual(expect.arrayContaining(before));
  await processes.startController(agents);
  await untilServes(stopped, after);
  await untilServes(running, after);
  expect(await stopped.agent.status(signal)).toMatchObject({ older: [] });
  expect(await processes.addressesOf([...newNames, 'extra'])).toEqual(after);
});
