import { expect, test } from 'vitest';
import { events } from '../../../packages/kubernetes/src/objects/resources.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { GatewayWorld } from './gateway-world.ts';
import { portsOf } from './invariants.ts';

const nothing = () => [];

async function recordedEvents(world: GatewayWorld): Promise<string[]> {
  const all: string[] = [];
  const reading = (async () => {
    for await (const { type, reason, message } of world.user.list(events)) {
      all.push(`${type} ${reason}: ${message}`);
    }
  })();
  await world.complete(reading);
  return all;
}

test('a lost port is noticed soon if checks are fast', async () => {
  const world = await GatewayWorld.create(3, { driftEveryMs: 300_000, resyncEveryMs: 30_000 });
  world.startController();
  await world.createService('web');
  await world.settle(nothing);
  const [[id, address] = ['', '']] = portsOf(world);
  await world.losePort(id);
  const lostAt = world.simulation.clock.monotonic();
  await world.simulation.runUntil(() => portsOf(world).size === 1);
  expect(world.simulation.clock.monotonic() - lostAt).toBeLessThan(40_000);
  expect([...portsOf(world).values()]).toEqual([address]);
  await world.settle(nothing);
});

test("a floating IP that can't be recreated is reported and kept, and recreated when that is allowed", async () => {
  const world = await GatewayWorld.create(4, { driftEveryMs: 10_000 });
  world.startController();
  await world.createService('web');
  await world.settle(nothing);
  const shown = () => world.service('web')?.status;
  const before = shown()?.loadBalancer?.ingress;
  const [floating] = world.openstack.neutron.floatingIps.all();
  await world.loseFloatingIp(floating?.id ?? '');
  world.limit('floatingip');
  await world.simulation.runUntil(() => shown()?.conditions?.[0]?.reason === 'FloatingIpLost');
  // Its users keep the known address.
  expect(shown()?.loadBalancer?.ingress).toEqual(before);
  await world.simulation.runFor(30_000);
  expect(await recordedEvents(world)).toContainEqual(
    expect.stringContaining(`Warning FloatingIpLost: The floating IP ${before?.[0]?.ip} was lost`),
  );
  world.limit(undefined);
  await world.settle(nothing);
});

test("a port that can't be recreated is reported; with room again, the Service gets its address back", async () => {
  const world = await GatewayWorld.create(7, { driftEveryMs: 10_000 });
  world.startController();
  await world.createService('web');
  await world.settle(nothing);
  const [[id, address] = ['', '']] = portsOf(world);
  await world.losePort(id);
  world.limit('port');
  await world.simulation.runFor(30_000);
  expect(await recordedEvents(world)).toContainEqual(
    expect.stringMatching(/^Warning AddressLost: The port of .* was lost and can't be recreated/),
  );
  world.limit(undefined);
  await world.settle(nothing);
  expect([...portsOf(world).values()]).toEqual([address]);
});

test('a lost floating IP with an address that is in use again is replaced, with an Event', async () => {
  const world = await GatewayWorld.create(8, { driftEveryMs: 10_000 });
  world.startController();
  await world.createService('web');
  await world.settle(nothing);
  const shown = () => world.service('web')?.status?.loadBalancer?.ingress?.[0]?.ip;
  const before = shown();
  const [floating] = world.openstack.neutron.floatingIps.all();
  const tenant = new Neutron(world.cloud(world.simulation.process('tenant')).session());
  const { signal } = new AbortController();
  await world.loseFloatingIp(floating?.id ?? '');
  const request = { floatingNetworkId: floating?.floating_network_id ?? '', description: '' };
  const taken = await world.complete(tenant.floatingIps.create(request, { signal }));
  expect(taken.address).toBe(before);
  await world.simulation.runUntil(() => shown() !== before);
  await world.simulation.runFor(10_000);
  expect(await recordedEvents(world)).toContain(
    `Warning AddressChanged: ${before} was lost and can't be restored. Clients reach the Service at ${shown()} now.`,
  );
});

test.each(['port', 'floatingip'] as const)(
  'an exhausted quota of each %s is reported with a remedy; with room again, the Service is served',
  async (what) => {
    const world = await GatewayWorld.create(6);
    world.startController();
    await world.createService('web');
    await world.settle(nothing);
    world.limit(what);
    await world.createService('late');
    await world.simulation.runUntil(
      () => world.service('late')?.status?.conditions?.[0]?.status === 'False',
    );
    await world.simulation.runFor(10_000);
    const event = (await recordedEvents(world)).find((each) =>
      each.includes('SyncLoadBalancerFailed'),
    );
    expect(event).toContain('Quota exceeded');
    expect(event).toContain("Raise the project's quota of ports and floating IPs");
    // Nothing is left behind by what could not be finished.
    expect(portsOf(world).size).toBe(1);
    world.limit(undefined);
    await world.settle(nothing);
  },
);

test('a Service that waits for long reports the reason', async () => {
  const world = await GatewayWorld.create(5);
  world.startController();
  await world.simulation.runFor(1_000);
  const slow = world.agents.get('g2');
  if (slow !== undefined) slow.mode = 'hangs';
  await world.createService('web');
  await world.simulation.runFor(9_000);
  expect(await recordedEvents(world)).toContain('Normal LoadBalancerPending: Waiting for g2');
});
