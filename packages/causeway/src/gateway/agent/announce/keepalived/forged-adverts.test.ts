import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Alarms } from '../../alarms.ts';
import { describeForgery, watchForForgedAdverts } from './forged-adverts.ts';

const peer = parseAddress('10.77.0.12');
const stranger = parseAddress('10.77.0.100');

describe('the alarm for forged adverts', () => {
  function start() {
    const clock = new SimulatedClock();
    const alarms = new Alarms(discardLog, noMetrics);
    const stop = new AbortController();
    const seen = { count: 5n };
    const watching = watchForForgedAdverts(
      {
        clock,
        alarms,
        metrics: noMetrics,
        peers: [peer],
        adverts: {
          countForged: () => Promise.resolve(seen.count),
          forgedSources: () => Promise.resolve([stranger]),
          unheardPeers: () => Promise.resolve([peer]),
        },
      },
      stop.signal,
    );
    const end = async () => {
      stop.abort();
      await watching.catch(() => undefined);
    };
    return { clock, alarms, seen, end };
  }

  test('ignores adverts that were dropped before the agent started', async () => {
    const { clock, alarms, end } = start();
    await clock.advance(5_000);
    expect(alarms.list()).toEqual([]);
    await end();
  });

  test('is raised by one dropped advert, names its source and is cleared after five minutes', async () => {
    const { clock, alarms, seen, end } = start();
    await clock.advance(2_000);
    seen.count += 1n;
    await clock.advance(2_000);
    expect(alarms.list()).toEqual([
      expect.stringMatching(
        /^forged-adverts: .*10\.77\.0\.100.* Nothing was heard from the peer 10\.77\.0\.12/,
      ),
    ]);
    await clock.advance(290_000);
    expect(alarms.list()).toHaveLength(1);
    await clock.advance(20_000);
    expect(alarms.list()).toEqual([]);
    await end();
  });
});

test("describes forged adverts by source and marks a peer's address", () => {
  expect(describeForgery([peer, stranger], [peer], [])).toBe(
    'VRRP adverts that no peer sent were dropped; their source is ' +
      "10.77.0.12 (a peer's address: the advert came through a router or on another interface), " +
      '10.77.0.100 (no peer of this gateway)',
  );
  const many = Array.from({ length: 7 }, (_, index) => parseAddress(`192.0.2.${index + 1}`));
  expect(describeForgery(many, [peer], [])).toContain('and 2 more');
  expect(describeForgery([], [peer], [peer])).toContain('an unknown source');
});

test('names peers that were never heard, in the family of the unknown sources', () => {
  const other = parseAddress('2001:db8::12');
  expect(describeForgery([stranger], [peer, other], [peer, other])).toContain(
    '10.77.0.100 (no peer of this gateway). Nothing was heard from the peer 10.77.0.12: if the adverts come from a gateway of this set, correct its address in peers4 or peers6',
  );
  expect(describeForgery([stranger], [peer], [])).not.toContain('Nothing was heard');
  expect(describeForgery([peer], [peer], [peer])).not.toContain('Nothing was heard');
});
