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

/** The agents in the order of their roles: first the active one. */
async function byRole(agents: readonly AgentProcess[]): Promise<readonly AgentProcess[]> {
  const roles = await Promise.all(
    agents.map(async ({ agent }) => (await agent.status(signal)).announcer.role),
  );
  const active = agents.filter((_, index) => roles[index] === 'active');
  const standby = agents.filter((_, index) => roles[index] === 'standby');
  if (active.length !== 1 || standby.length !== 1) throw new Error(roles.join());
  return [...active, ...standby];
}

const untilCount = (agent: AgentProcess, count: number) =>
  waitFor(`${count} addresses`, async () => (await addressesServedBy(agent)).length === count);

test.each(['standby', 'active'] as const)(
  'the %s gateway, stopped while 25 Services were replaced and the controller was killed, serves only the new ones',
  async (role) => {
    const [oldNames, newNames] = [group(`old-${role}-`), group(`new-${role}-`)];
    const extra = `extra-${role}`;
    const agents = [
      await processes.startAgent(`${role}1`),
      await processes.startAgent(`${role}2`),
    ] as const;
    const [active, standby] = await waitFor('both roles', () => byRole(agents));
    if (active === undefined || standby === undefined) throw new Error('a role is missing');
    const [stopped, running] = role === 'active' ? [active, standby] : [standby, active];
    const controller = await processes.startController(agents);
    await processes.create(oldNames);
    const before = await processes.addressesOf(oldNames);
    await untilServes(stopped, before);

    stopped.child.kill('SIGSTOP');
    // An update without removals waits in the socket of the stopped agent, so no removal arrives early.
    await processes.create([extra]);
    await untilCount(running, before.length + 1);
    for (const name of oldNames)
      await processes.client.delete(services, { namespace: 'default', name });
    await waitFor('the old Services to be gone', async () => {
      for await (const { metadata } of processes.client.list(services, { namespace: 'default' })) {
        if (metadata?.name?.startsWith('old') === true) return false;
      }
      return true;
    });
    await processes.create(newNames);
    await untilCount(running, newNames.length + 1);

    controller.kill('SIGKILL');
    await controller.exited;
    stopped.child.kill('SIGCONT');
    expect(await addressesServedBy(stopped)).toEqual(expect.arrayContaining(before));
    const next = await processes.startController(agents);
    const after = await processes.addressesOf([...newNames, extra]);
    await untilServes(stopped, after);
    await untilServes(running, after);
    expect(await stopped.agent.status(signal)).toMatchObject({ older: [] });
    for (const name of [...newNames, extra])
      await processes.client.delete(services, { namespace: 'default', name });
    await untilCount(stopped, 0);
    next.kill('SIGKILL');
    await next.exited;
    for (const { child } of agents) child.kill('SIGKILL');
  },
);
