import { describe, expect, test } from 'vitest';
import type { Labels, Metrics } from '@causeway/base/observability/metrics';
import { noMetrics } from '@causeway/base/observability/metrics';
import { TestAllocator } from './test-allocator.testing.ts';
import { poolSpecSchema } from './records.ts';
import { drainPool, removePool, setPool } from './site-decisions.ts';
import { addUp, usageGauges, usageOf } from './usage.ts';

describe('usage', () => {
  test('counts held, quarantined and free addresses of each pool', () => {
    const testAllocator = new TestAllocator().withSite(
      [{ name: 'p', addresses: ['192.0.2.0/28', '2001:db8::/64'] }],
      {
        quarantineMs: 100,
      },
    );
    testAllocator.withCluster('a');
    testAllocator.take('a', '1', { families: [4, 6] });
    testAllocator.take('a', '2');
    testAllocator.free('a', '2');
    const site = testAllocator.view.site('s');
    if (site === undefined) throw new Error('no site');
    const none = { drained: 0, outside: 0 };
    const six = { total: 2 ** 64 - 1, held: 1, quarantined: 0, free: 2 ** 64 - 2, ...none };
    expect(usageOf(site, testAllocator.now)).toEqual([
      {
        pool: 'p',
        family: 4,
        usage: { total: 14, held: 1, quarantined: 1, free: 12, ...none },
      },
      { pool: 'p', family: 6, usage: six },
    ]);
    const [four] = usageOf(site, testAllocator.now + 100);
    expect(four?.usage).toMatchObject({ held: 1, quarantined: 0, free: 13 });
    expect(addUp(usageOf(site, testAllocator.now).map(({ usage }) => usage))).toMatchObject({
      held: 2,
    });
  });

  test('counts held addresses that a smaller pool excludes separately', () => {
    const pool = { name: 'p', addresses: ['192.0.2.0/28', '2001:db8::/64'] };
    const testAllocator = new TestAllocator()
      .withSite([pool], { quarantineMs: 100 })
      .withCluster('a');
    testAllocator.take('a', '1', { families: [4, 6] });
    const gone = poolSpecSchema.parse({ name: 'p', addresses: ['198.51.100.0/28'] });
    testAllocator.run(setPool({ site: 's', pool: gone }));
    const shown = () => {
      const site = testAllocator.view.site('s');
      return site === undefined ? [] : usageOf(site, testAllocator.now);
    };
    expect(shown()).toMatchObject([
      { family: 4, usage: { total: 14, held: 0, free: 14, outside: 1 } },
      { family: 6, usage: { total: 0, held: 0, free: 0, outside: 1 } },
    ]);
    testAllocator.free('a', '1');
    expect(shown()).toMatchObject([{ family: 4, usage: { free: 14, outside: 0 } }]);
  });

  test('counts no drained address as free', () => {
    const testAllocator = new TestAllocator()
      .withSite([{ name: 'p', addresses: ['192.0.2.0/28'] }])
      .withCluster('a');
    testAllocator.take('a', '1');
    testAllocator.run(drainPool({ site: 's', pool: 'p', drained: true }));
    const site = testAllocator.view.site('s');
    expect(site === undefined ? [] : usageOf(site, testAllocator.now)).toMatchObject([
      { usage: { total: 14, held: 1, drained: 13, free: 0 } },
    ]);
  });

  test('is exported as metrics, without removed pools', () => {
    const shown = new Map<string, number>();
    const nameOf = (labels: object) => Object.values(labels).join('/');
    const metrics: Metrics = {
      ...noMetrics,
      gauge: () => ({
        set: (labels: Labels<string>, value: number) => void shown.set(nameOf(labels), value),
        remove: (labels: Labels<string>) => void shown.delete(nameOf(labels)),
      }),
    };
    const testAllocator = new TestAllocator()
      .withSite([{ name: 'p', addresses: ['192.0.2.0/28'] }])
      .withCluster('a');
    const setGauges = usageGauges(metrics);
    setGauges(testAllocator.view, testAllocator.now);
    expect(shown.get('s/p/4/free')).toBe(14);
    expect(shown.get('s/unknown')).toBe(1);
    testAllocator.run(removePool({ site: 's', pool: 'p' }));
    setGauges(testAllocator.view, testAllocator.now);
    expect(shown.has('s/p/4/free')).toBe(false);
  });
});
