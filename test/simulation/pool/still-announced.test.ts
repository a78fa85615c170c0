import { expect, test } from 'vitest';
import { events } from '../../../packages/kubernetes/src/objects/resources.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { PoolWorld } from './pool-world.ts';

test('an announcer that does not stop after the deletion of a Service is reported, and the address stays reserved', async () => {
  const world = await PoolWorld.create(11, '192.0.2.1-192.0.2.4', 'kube-vip');
  world.startController();
  await world.createService('web');
  await world.until(() => world.addressOf('web') !== undefined);
  const address = world.addressOf('web');
  world.pauseAnnouncer(220_000);
  await world.deleteService('web');
  await world.simulation.runFor(200_000);
  const recorded = await world.complete(collect(world.user.list(events)));
  expect(
    recorded.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
  ).toContainEqual(
    expect.stringContaining(
      'Warning StillAnnounced: The Service was deleted, but kube-vip still announces its address.',
    ),
  );
  const held = world.ipam.addresses().filter(({ owners }) => owners.length > 0);
  expect(held.map((entry) => entry.address)).toEqual([address]);
  // The reservation ends with the announcement.
  await world.until(() => world.ipam.addresses().every(({ owners }) => owners.length === 0));
});
