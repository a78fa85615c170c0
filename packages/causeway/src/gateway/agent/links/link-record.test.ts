import { describe, expect, test } from 'vitest';
import { destinationOf, followLink, restoringCommands, type LinkView } from './link-record.ts';

const defaultRoute = { family: 4, words: 'default via 10.77.0.1' } as const;
const podRoute = { family: 4, words: '10.79.0.0/16 via 10.78.0.21 proto static' } as const;
const onLink = { family: 4, words: '192.0.2.0/24 scope link' } as const;
const own = '2001:db8:77::11/64 nodad';

function view(change: Partial<LinkView> = {}): LinkView {
  const routes = change.routes ?? [defaultRoute, podRoute];
  return {
    isUp: true,
    carrierChanges: 2,
    routes,
    addresses: [own],
    destinations: new Set(routes.map(destinationOf)),
    ...change,
  };
}

const before = followLink(undefined, view()).record;

describe('addresses and routes that a link lost', () => {
  test('are none at the first check, which is recorded', () => {
    expect(followLink(undefined, view()).lost).toEqual({ routes: [], addresses: [] });
    expect(before).toEqual({
      carrierChanges: 2,
      routes: [defaultRoute, podRoute],
      addresses: [own],
    });
  });

  test('exclude a route that was removed while the link stayed up, which is dropped from the record', () => {
    const { record, lost } = followLink(before, view({ routes: [podRoute] }));
    expect(lost.routes).toEqual([]);
    expect(record?.routes).toEqual([podRoute]);
  });

  test('are not determined while the link is down, and the record is kept', () => {
    const down = view({ isUp: false, carrierChanges: 3, routes: [], addresses: [] });
    const { record, lost } = followLink(before, down);
    expect(lost).toEqual({ routes: [], addresses: [] });
    expect(record).toMatchObject({ routes: before?.routes, addresses: before?.addresses });
    expect(followLink(undefined, down).record).toBeUndefined();
  });

  test('are detected after the link was seen down, even if the driver has no carrier count', () => {
    const down = followLink(before, view({ isUp: false, routes: [], addresses: [] }));
    const up = followLink(down.record, view({ routes: [], addresses: [] }));
    expect(up.lost).toEqual({ routes: [defaultRoute, podRoute], addresses: [own] });
    const restored = followLink(up.record, view());
    expect(restored).toEqual({ record: before, lost: { routes: [], addresses: [] } });
  });

  test('are those from before it went down, until they are restored', () => {
    const up = view({ carrierChanges: 4, routes: [], addresses: [] });
    const first = followLink(before, up);
    expect(first.lost).toEqual({ routes: [defaultRoute, podRoute], addresses: [own] });
    const second = followLink(first.record, view({ carrierChanges: 4, routes: [podRoute] }));
    expect(second.lost).toEqual({ routes: [defaultRoute], addresses: [] });
    const third = followLink(second.record, view({ carrierChanges: 4 }));
    expect(third.lost).toEqual({ routes: [], addresses: [] });
    expect(third.record?.carrierChanges).toBe(4);
  });

  test('exclude a route if a routing daemon has another route to its destination', () => {
    const destinations = new Set(['4 default']);
    const up = view({ carrierChanges: 4, routes: [], destinations });
    expect(followLink(before, up).lost.routes).toEqual([podRoute]);
  });
});

test('restores addresses first, then routes on the link, then routes through a router', () => {
  const lost = { routes: [defaultRoute, onLink], addresses: [own] };
  expect(restoringCommands('ext', lost).map((command) => command.join(' '))).toEqual([
    'address replace 2001:db8:77::11/64 nodad dev ext',
    '-4 route replace 192.0.2.0/24 scope link dev ext',
    '-4 route replace default via 10.77.0.1 dev ext',
  ]);
});
