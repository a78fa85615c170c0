import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadBalancer, startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `10.10.0.${index + 1}`);

/** The pool behind a port of a load balancer. */
function poolOf(id: string, port = 80): string {
  const all = world.cloud.octavia.listeners.all();
  const found = all.find((row) => row.loadbalancer_id === id && row.protocol_port === port);
  return found?.default_pool_id ?? '';
}

/** Leaves a pool with this number of members. */
function shrink(pool: string, count: number): void {
  const { members } = world.cloud.octavia;
  for (const row of members
    .all()
    .filter(({ pool_id: of }) => of === pool)
    .slice(count)) {
    members.delete(row.id);
  }
}

async function frontendCounts(): Promise<number[]> {
  const counts = (await world.slices()).map((slice) => slice.endpoints?.length ?? 0);
  return counts.sort((left, right) => left - right);
}

/** A load balancer with the ports 80 and 81, each with its own members. */
function addWithTwoPorts(name: string, count: number): string {
  const { listeners, ...request } = loadBalancer(world.cloud, name, addresses(count));
  const both = listeners.flatMap((one) => [
    one,
    { ...one, protocol_port: 81, default_pool: { ...one.default_pool, name: 'more' } },
  ]);
  const spec = { ...request, listeners: both };
  return world.cloud.addLoadBalancer(world.projectId('demo'), spec).id;
}

describe('the loss of half of the endpoints', () => {
  test.each([
    [0, 4],
    [0.25, 4],
  ])('is held with a share of %f', async (maxLossShare, held) => {
    const ids = ['a', 'b', 'c', 'd'].map(
      (name) => world.addLoadBalancer('demo', name, ...addresses(10)).id,
    );
    await world.once();
    for (const [index, count] of [4, 6, 5, 5].entries()) {
      shrink(poolOf(ids[index] ?? ''), count);
    }
    expect(await world.once({ maxLossShare })).toMatchObject({ held, written: 0, removed: 0 });
    expect(await frontendCounts()).toEqual([10, 10, 10, 10]);
    expect(await world.once({ maxLossShare: 0.5 })).toMatchObject({ held: 0, written: 4 });
    expect(await frontendCounts()).toEqual([4, 5, 5, 6]);
  });

  test('is released if they are few', async () => {
    const { id } = world.addLoadBalancer('demo', 'web', ...addresses(4));
    await world.once();
    shrink(poolOf(id), 2);
    expect(await world.once()).toMatchObject({ held: 0, written: 1 });
    expect(await frontendCounts()).toEqual([2]);
  });
});

describe.each(['EndpointSlice', 'Endpoints'])('while a port is held, with %s', (endpointsKind) => {
  const settings = { endpointsKind };
  const all = async () => {
    const slices = (await world.slices()).flatMap((one) =>
      (one.endpoints ?? []).map((each) => `${one.ports?.[0]?.name} ${each.addresses[0]}`),
    );
    const older = (await world.endpoints()).flatMap(({ subsets }) =>
      (subsets ?? []).flatMap(({ ports, addresses: own }) =>
        (own ?? []).map(({ ip }) => `${ports?.[0]?.name} ${ip}`),
      ),
    );
    return [...slices, ...older].sort();
  };

  test('the other ports change', async () => {
    const id = addWithTwoPorts('web', 1);
    await world.once(settings);
    shrink(poolOf(id, 81), 0);
    const { members } = world.cloud.octavia;
    for (const row of members.all()) Object.assign(row, { address: '10.10.0.9' });
    expect(await world.once(settings)).toMatchObject({ held: 1, written: 1, removed: 0 });
    expect(await all()).toEqual(['http-80 10.10.0.9', 'http-81 10.10.0.1']);
    expect(await world.once(settings)).toMatchObject({ held: 1, written: 0, removed: 0 });
    expect(await world.once(settings, true)).toMatchObject({ held: 0, failures: 0 });
    expect(await all()).toEqual(['http-80 10.10.0.9']);
    expect(await world.once(settings)).toMatchObject({ held: 0, written: 0, removed: 0 });
  });

  test('a port without its listener stays on the Service, beside a new one', async () => {
    const id = addWithTwoPorts('web', 1);
    await world.once(settings);
    const { listeners } = world.cloud.octavia;
    const row = listeners.all().find((one) => one.protocol_port === 81);
    listeners.delete(row?.id ?? '');
    for (const one of listeners.all()) Object.assign(one, { name: 'renamed' });
    const ports = async () => (await world.services())[0]?.spec?.ports?.map(({ name }) => name);
    expect(await world.once(settings)).toMatchObject({ held: 1, removed: 0 });
    expect(await ports()).toEqual(['renamed-80', 'http-81']);
    expect(await world.once(settings)).toMatchObject({ held: 1, written: 0, removed: 0 });
    expect(await world.once(settings, true)).toMatchObject({ held: 0, failures: 0 });
    expect(await ports()).toEqual(['renamed-80']);
    expect(await all()).toEqual(['renamed-80 10.10.0.1']);
    expect(id).toBeDefined();
  });
});

describe('removes foreign additions to its objects at once, for any number of ports', () => {
  test.each(['EndpointSlice', 'Endpoints'])('with %s', async (endpointsKind) => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once({ endpointsKind });
    const [service] = await world.services();
    const { namespace = '', name = '' } = service?.metadata ?? {};
    const ports = [...(service?.spec?.ports ?? []), { name: 'theirs', port: 99 }];
    await world.client.patchMerge(services, { namespace, name }, { spec: { ports } });
    for (const slice of await world.slices()) {
      const at = { namespace, name: slice.metadata?.name ?? '' };
      const more = addresses(30).map((address) => ({ addresses: [address] }));
      const own = [...(slice.endpoints ?? []), ...more];
      await world.client.patchMerge(endpointSlices, at, { endpoints: own });
    }
    expect(await world.once({ endpointsKind })).toMatchObject({ held: 0, failures: 0 });
    const [mended] = await world.services();
    expect(mended?.spec?.ports?.map((port) => port.name)).toEqual(['http-80']);
    expect(await frontendCounts()).toEqual(endpointsKind === 'Endpoints' ? [] : [1]);
  });
});
