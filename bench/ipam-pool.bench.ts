import { parseAddress } from '../packages/base/src/address/address.ts';
import { keys } from '../packages/causeway/src/ipam/keys.ts';
import { demandSchema, type HeldAddress } from '../packages/causeway/src/ipam/records.ts';
import { reserve } from '../packages/causeway/src/ipam/reserve.ts';
import { TestAllocator } from '../packages/causeway/src/ipam/test-allocator.testing.ts';
import { compare, type BenchmarkSuite } from './benchmark.ts';

const size = 65_536;
const full = Math.floor(size * 0.99);
const decisions = 2_000;

/** Finding an address in a pool of 65,536 with 99 % reserved, compared with the same pool empty. */
export const suite: BenchmarkSuite<'ipam-full-pool'> = {
  name: 'ipam-pool',
  bars: {
    'ipam-full-pool': {
      of: 'ratio',
      comparison: 'at most',
      limit: 2,
      unit: 'µs/decision',
    },
  },
  async run() {
    const crowded = allocatorWith(full);
    const empty = allocatorWith(0);
    const measure = (testAllocator: TestAllocator) => () => Promise.resolve(costOf(testAllocator));
    // Once before, for the compiler.
    costOf(crowded);
    costOf(empty);
    return { 'ipam-full-pool': await compare(7, measure(crowded), measure(empty)) };
  },
};

/** Reserved addresses are spread over the pool, like after years. */
function allocatorWith(taken: number): TestAllocator {
  const testAllocator = new TestAllocator().withSite([
    { name: 'p', addresses: ['10.0.0.0-10.0.255.255'] },
  ]);
  testAllocator.withCluster('other').withCluster('asking');
  const cluster = testAllocator.view.site('s')?.clusters.get('other')?.record;
  const revision = testAllocator.view.revision + 1;
  const changes = Array.from({ length: taken }, (_, index) => {
    const place = (index * 40_503) % size;
    const address = parseAddress(`10.0.${place >> 8}.${place & 255}`);
    const record: HeldAddress = {
      state: 'held',
      address,
      pool: 'p',
      cluster: 'other',
      epoch: cluster?.epoch ?? '',
      owners: [{ uid: `u${index}`, purpose: 'load-balancer', fencingToken: index, since: 0 }],
    };
    return { key: keys.address('s', address), value: JSON.stringify(record), revision };
  });
  testAllocator.view.apply({ revision, changes });
  return testAllocator;
}

function costOf(testAllocator: TestAllocator): number {
  const started = performance.now();
  for (let index = 0; index < decisions; index += 1) {
    const demand = demandSchema.parse({
      uid: `x${index}`,
      purpose: 'load-balancer',
      families: [4],
    });
    const decide = reserve({ site: 's', cluster: 'asking', demand });
    const decision = decide(testAllocator.view, testAllocator, testAllocator.grant);
    if (decision.kind !== 'change') throw new Error('no address was found');
  }
  return ((performance.now() - started) / decisions) * 1_000;
}
