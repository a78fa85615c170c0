import { expect, it } from 'vitest';
import { startMinimalCloud } from '../../../../test/openstack/minimal-cloud.ts';
import { quickPauses } from '../../../../test/openstack/quick-clock.ts';
import { openLoadBalancing } from './open.ts';

const call = { signal: new AbortController().signal };
const ids = Array.from({ length: 30 }, (_, index) => `lb-${index}`);

/** Load balancers that are pending in the first four lists, and then active. */
function startPendingCloud() {
  const asked = { lists: 0, gets: 0 };
  let attempts = 0;
  const one = (id: string) => ({
    id,
    provisioning_status: attempts > 4 ? 'ACTIVE' : 'PENDING_CREATE',
    vip_address: '192.0.2.1',
  });
  const cloud = startMinimalCloud(({ path, query }) => {
    const id = /\/loadbalancers\/(.+)$/.exec(path)?.[1];
    if (id !== undefined) {
      asked.gets += 1;
      return { status: 200, body: { loadbalancer: one(id) } };
    }
    if (!path.endsWith('/loadbalancers')) {
      return { status: 200, body: { versions: [{ id: 'v2.26' }] } };
    }
    asked.lists += 1;
    const isCreate = query.get('provisioning_status') === 'PENDING_CREATE';
    if (isCreate) attempts += 1;
    return { status: 200, body: { loadbalancers: isCreate && attempts <= 4 ? ids.map(one) : [] } };
  }, quickPauses);
  return { cloud, asked };
}

it.each([
  ['the configured scope', undefined],
  ['a project', 'p2'],
])('30 concurrent waits for load balancers in %s share one poller', async (_scope, projectId) => {
  const { cloud, asked } = startPendingCloud();
  await using test = await cloud;
  const session = () =>
    projectId === undefined ? test.cloud.session() : test.cloud.project(projectId);
  const opened = await Promise.all(
    ids.map(async (id) => ({ id, balancing: await openLoadBalancing(session(), call) })),
  );
  await Promise.all(opened.map(({ id, balancing }) => balancing.waiter.active(id, call)));
  // Five rounds of three lists each, and one read of each load balancer that is no longer listed.
  expect(asked).toEqual({ lists: 15, gets: 30 });
});
