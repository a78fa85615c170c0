import { describe, expect, test } from 'vitest';
import type { Labels, Metrics } from '../runtime/metrics.ts';
import { noMetrics } from '../runtime/metrics.ts';
import { Desk } from './desk.testing.ts';
import { removePool } from './site-decisions.ts';
import { usageGauges, usageOf } from './usage.ts';

describe('usage', () => {
  test('counts held, quarantined and free addresses of each pool', () => {
    const desk = new Desk().withSite(
      [{ name: 'p', addresses: ['192.0.2.0/28', '2001:db8::/64'] }],
      {
        quarantineMs: 100,
      },
    );
    desk.withCluster('a');
    desk.take('a', '1', { families: [4, 6] });
    desk.take('a', '2');
    desk.free('a', '2');
    const site = desk.view.site('s');
    if (site === undefined) throw new Error('no site');
    const total = 14 + 2 ** 64 - 1;
    expect(usageOf(site, desk.now).get('p')).toEqual({
      total,
      held: 2,
      quarantined: 1,
      free: total - 3,
    });
    expect(usageOf(site, desk.now + 100).get('p')).toMatchObject({ held: 2, quarantined: 0 });
  });

  test('is shown as metrics, and a pool that is gone is gone there too', () => {
    const shown = new Map<string, number>();
    const nameOf = (labels: object) => Object.values(labels).join('/');
    const metrics: Metrics = {
      ...noMetrics,
      gauge: () => ({
        set: (labels: Labels<string>, value: number) => void shown.set(nameOf(labels), value),
        remove: (labels: Labels<string>) => void shown.delete(nameOf(labels)),
      }),
    };
    const desk = new Desk().withSite([{ name: 'p', addresses: ['192.0.2.0/28'] }]).withCluster('a');
    const setGauges = usageGauges(metrics);
    setGauges(desk.view, desk.now);
    expect(shown.get('s/p/free')).toBe(14);
    expect(shown.get('s/unknown')).toBe(1);
    desk.run(removePool({ site: 's', pool: 'p' }));
    setGauges(desk.view, desk.now);
    expect(shown.has('s/p/free')).toBe(false);
  });
});
