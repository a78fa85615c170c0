import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { PortMapper } from './port-mapper.ts';
import type { L2Port, PlacementRequest, PortSlot } from './port-slot.ts';
import type { L4Port } from '../../../services/l4-port.ts';

const tcp = (port: number): L4Port => ({ protocol: 'TCP', port: parsePort(port) });
const udp = (port: number): L4Port => ({ protocol: 'UDP', port: parsePort(port) });

function request(owner: string, needs: L4Port[], extra: Partial<PlacementRequest> = {}) {
  const place = { family: 4 as const, namespace: 'default', sharingGroup: 'ns:default' };
  return { owner, needs, ...place, ...extra };
}

function l2Port(host: number): L2Port {
  const address = parseAddress(`192.0.2.${host}`);
  return { id: `port-${host}`, family: 4, address, publicAddress: address };
}

/** Places a Service and creates a port if necessary. Returns the port's ID. */
function place(mapper: PortMapper, wanted: PlacementRequest): string {
  const placement = mapper.place(wanted);
  if (placement.kind === 'leaving') return 'leaving';
  if (placement.kind === 'refused') return `refused: ${placement.reason} by ${placement.by}`;
  if (placement.kind === 'make') mapper.made(placement.slot, l2Port(placement.slot.number));
  return placement.slot.port?.id ?? 'pending';
}

/** The same, and commits the placement as written and served. */
function serve(mapper: PortMapper, wanted: PlacementRequest): string {
  const id = place(mapper, wanted);
  mapper.settle(wanted.owner, [wanted.family]);
  return id;
}

describe('PortMapper', () => {
  test('shares an address in one namespace while the ports differ', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(80)]))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(443)]))).toBe('port-1');
    expect(place(mapper, request('c', [tcp(80)]))).toBe('port-2');
  });

  test('shares an address between TCP/53 and UDP/53', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(53)]))).toBe('port-1');
    expect(place(mapper, request('b', [udp(53)]))).toBe('port-1');
  });

  test('shares across namespaces only with the same key', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(80)], { sharingGroup: 'ns:one' }))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(81)], { sharingGroup: 'ns:two' }))).toBe('port-2');
    expect(place(mapper, request('c', [tcp(80)], { sharingGroup: 'key:edge' }))).toBe('port-3');
    expect(place(mapper, request('d', [tcp(81)], { sharingGroup: 'key:edge' }))).toBe('port-3');
  });

  test('keeps the address of a Service with changed ports, unless they conflict', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    place(mapper, request('b', [tcp(443)]));
    expect(place(mapper, request('a', [tcp(80), tcp(8080)]))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(8080)]))).toBe('port-2');
    expect(place(mapper, request('a', [tcp(443)]))).toBe('port-1');
  });

  test('reserves what a Service gives up until the change is committed', () => {
    const mapper = new PortMapper();
    serve(mapper, request('a', [tcp(80)]));
    expect(place(mapper, request('a', [tcp(81)]))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(80)]))).toBe('port-2');
    expect(mapper.settle('a', [4])).toBe(true);
    expect(place(mapper, request('c', [tcp(80), tcp(82)]))).toBe('port-1');
    expect(mapper.settle('a', [4])).toBe(false);
  });

  test("restores the former placement if the new port can't be created", () => {
    const mapper = new PortMapper();
    serve(mapper, request('a', [tcp(80)]));
    serve(mapper, request('b', [tcp(443)]));
    const placement = mapper.place(request('b', [tcp(80)]));
    if (placement.kind !== 'make') throw new Error('a port is to be made');
    expect(place(mapper, request('c', [tcp(443)]))).toBe('pending');
    mapper.lost(placement.slot);
    expect(mapper.slotOf('b', 4)?.port?.id).toBe('port-1');
    expect(mapper.heldBy('b', 4)).toMatchObject({ slot: { number: 1 }, held: [tcp(443)] });
    expect(place(mapper, request('d', [tcp(443)]))).toBe('port-3');
    // The Service can also return to its former request.
    expect(place(mapper, request('b', [tcp(443)]))).toBe('port-1');
  });

  test('returns to the former port if the request is reverted during a move', () => {
    const mapper = new PortMapper();
    serve(mapper, request('a', [tcp(80)]));
    serve(mapper, request('b', [tcp(443)]));
    expect(place(mapper, request('b', [tcp(80)]))).toBe('port-2');
    expect(mapper.heldBy('b', 4)?.slot.port?.id).toBe('port-1');
    expect(place(mapper, request('b', [tcp(443)]))).toBe('port-1');
    expect(mapper.unused().map(({ port }) => port?.id)).toEqual(['port-2']);
  });

  test('releases an unused family when the change is committed', () => {
    const mapper = new PortMapper();
    for (const family of [4, 6] as const) place(mapper, request('a', [tcp(80)], { family }));
    expect(mapper.settle('a', [4, 6])).toBe(false);
    expect(mapper.settle('a', [4])).toBe(true);
    expect(mapper.slotOf('a', 6)).toBeUndefined();
    expect(mapper.unused().map(({ port }) => port?.id)).toEqual(['port-2']);
  });

  describe('after a change of the sharing key', () => {
    const one = { namespace: 'one', sharingGroup: 'ns:one' };
    const two = { namespace: 'two', sharingGroup: 'ns:two' };
    const shared = { sharingGroup: 'key:edge' };

    test('moves a Service that drops the key if others share by it', () => {
      const mapper = new PortMapper();
      serve(mapper, request('a', [tcp(80)], { ...one, ...shared }));
      serve(mapper, request('b', [tcp(81)], { ...two, ...shared }));
      expect(serve(mapper, request('a', [tcp(80)], one))).toBe('port-2');
      expect(serve(mapper, request('b', [tcp(81)], { ...two, ...shared }))).toBe('port-1');
      // Not even by requesting the address.
      const requested = parseAddress('192.0.2.1');
      const back = request('a', [tcp(80)], { ...one, requested });
      expect(place(mapper, back)).toBe('refused: other-sharing-group by b');
    });

    test('keeps a Service that is alone on its port, and lets others join it', () => {
      const mapper = new PortMapper();
      serve(mapper, request('a', [tcp(80)], { ...one, ...shared }));
      expect(serve(mapper, request('a', [tcp(80)], one))).toBe('port-1');
      expect(place(mapper, request('b', [tcp(81)], { ...two, ...shared }))).toBe('port-2');
      expect(place(mapper, request('c', [tcp(82)], one))).toBe('port-1');
    });

    test('keeps a Service that adds a key beside its namespace; others join when all have it', () => {
      const mapper = new PortMapper();
      serve(mapper, request('a', [tcp(80)], one));
      serve(mapper, request('b', [tcp(81)], one));
      expect(serve(mapper, request('a', [tcp(80)], { ...one, ...shared }))).toBe('port-1');
      expect(place(mapper, request('c', [tcp(82)], { ...two, ...shared }))).toBe('port-2');
      expect(serve(mapper, request('b', [tcp(81)], { ...one, ...shared }))).toBe('port-1');
      expect(place(mapper, request('d', [tcp(83)], { ...two, ...shared }))).toBe('port-1');
    });
  });

  test('lets a second Service join a port during its creation', () => {
    const mapper = new PortMapper();
    const first = mapper.place(request('a', [tcp(80)]));
    const second = mapper.place(request('b', [tcp(81)]));
    expect(first.kind).toBe('make');
    expect(second).toMatchObject({ kind: 'placed' });
    if (first.kind !== 'make') return;
    expect(mapper.lost(first.slot)).toEqual(['a', 'b']);
    expect(mapper.slotOf('b', 4)).toBeUndefined();
  });

  test('assigns a requested address, or rejects it with its holder', () => {
    const mapper = new PortMapper();
    const requested = parseAddress('192.0.2.1');
    expect(place(mapper, request('a', [tcp(80)], { requested }))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(81)], { requested }))).toBe('port-1');
    expect(place(mapper, request('c', [tcp(80)], { requested }))).toBe('refused: taken by a');
    const foreign = request('d', [tcp(82)], { requested, sharingGroup: 'ns:other' });
    expect(place(mapper, foreign)).toBe('refused: other-sharing-group by a');
    // A rejection removes nothing.
    expect(mapper.slotOf('a', 4)?.port?.id).toBe('port-1');
  });

  test('uses one port for each family', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(80)]))).toBe('port-1');
    expect(place(mapper, request('a', [tcp(80)], { family: 6 }))).toBe('port-2');
    expect(mapper.release('a').map(({ number }) => number)).toEqual([1, 2]);
  });

  test('places no Service on an unused port, which is being removed', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    const [slot] = mapper.release('a');
    if (slot === undefined) throw new Error('nothing was released');
    expect(place(mapper, request('b', [tcp(80)]))).toBe('port-2');
    const requested = parseAddress('192.0.2.1');
    expect(mapper.place(request('c', [tcp(80)], { requested }))).toEqual({ kind: 'leaving' });
    mapper.retire(slot);
    expect(mapper.slotOfPort('port-1')).toBeUndefined();
    expect(mapper.place(request('c', [tcp(80)], { requested })).kind).toBe('make');
  });
});

describe('after a restart', () => {
  const allocation = (owner: string, portId: string, createdAt: string, held = [tcp(80)]) => ({
    owner,
    portId,
    createdAt,
    held,
    family: 4 as const,
    namespace: 'default',
    sharingGroup: 'ns:default',
    isWritten: true,
    isTakenOver: true,
    ownSharingGroup: 'ns:default',
    advertised: [] as Address[],
  });
  /** The status of a allocation with the address of this port. */
  const advertising = (host: number) => ({ advertised: [l2Port(host).publicAddress] });

  test('prefers the Service with the address in its status over an older annotation', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore(
      [l2Port(1), l2Port(2)],
      [
        allocation('unheard', 'port-1', '2026-01-01'),
        { ...allocation('elsewhere', 'port-1', '2026-01-02'), ...advertising(2) },
        { ...allocation('holder', 'port-1', '2026-02-01'), ...advertising(1) },
      ],
    );
    expect(losers.map(({ owner }) => owner)).toEqual(['unheard']);
    expect(mapper.slotOf('holder', 4)?.port?.id).toBe('port-1');
    // The status counts, even if the annotation was edited.
    expect(mapper.slotOf('elsewhere', 4)?.port?.id).toBe('port-2');
  });

  test('does not join another sharing group by an annotation alone', () => {
    const mapper = new PortMapper();
    const holder = { ...allocation('holder', 'port-1', '2026-02-01'), ...advertising(1) };
    const stranger = {
      ...allocation('stranger', 'port-1', '1', [tcp(81)]),
      ownSharingGroup: 'ns:other',
    };
    const gone = { ...stranger, owner: 'gone', advertised: [parseAddress('203.0.113.9')] };
    const neighbour = allocation('neighbour', 'port-1', '3', [tcp(82)]);
    const losers = mapper.restore([l2Port(1)], [stranger, gone, neighbour, holder]);
    expect(losers.map(({ owner }) => owner)).toEqual(['gone', 'stranger']);
    expect(mapper.slotOf('neighbour', 4)?.port?.id).toBe('port-1');
  });

  test('keeps several sharing groups on one slot after its floating IP was lost', () => {
    const mapper = new PortMapper();
    const lost = { advertised: [parseAddress('203.0.113.9')] };
    const a = {
      ...allocation('a', 'port-1', '1'),
      ...lost,
      sharingGroup: 'ns:one',
      ownSharingGroup: 'ns:one',
    };
    const b = { ...allocation('b', 'port-1', '2', [tcp(81)]), ...lost };
    expect(mapper.restore([l2Port(1)], [a, b])).toEqual([]);
  });

  test('restores by annotation, and prefers the older of two in conflict', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore(
      [l2Port(1), l2Port(2)],
      [
        allocation('young', 'port-1', '2026-02-01'),
        allocation('old', 'port-1', '2026-01-01'),
        allocation('b', 'port-2', '2026-03-01'),
      ],
    );
    expect(losers.map(({ owner }) => owner)).toEqual(['young']);
    expect(mapper.slotOf('old', 4)?.port?.id).toBe('port-1');
    expect(mapper.slotOf('b', 4)?.port?.id).toBe('port-2');
  });

  test('prefers written ports over those from the spec, regardless of age', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore(
      [l2Port(1)],
      [
        { ...allocation('old', 'port-1', '2026-01-01'), isWritten: false },
        allocation('young', 'port-1', '2026-02-01'),
      ],
    );
    expect(losers.map(({ owner }) => owner)).toEqual(['old']);
  });

  test('keeps one family of a Service that releases the other', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    place(mapper, request('a', [tcp(80)], { family: 6 }));
    mapper.release('a', [6]);
    expect(mapper.slotOf('a', 4)).toBeDefined();
    expect(mapper.slotOf('a', 6)).toBeUndefined();
    expect(mapper.unused()).toHaveLength(1);
  });

  test('prefers the lower UID at equal age, in any order', () => {
    const allocations = [
      allocation('b', 'port-1', '2026-01-01'),
      allocation('a', 'port-1', '2026-01-01'),
    ];
    for (const order of [allocations, [...allocations].reverse()]) {
      const mapper = new PortMapper();
      expect(mapper.restore([l2Port(1)], order).map(({ owner }) => owner)).toEqual(['b']);
    }
  });

  test('reports a allocation on a missing port, and treats an unused port as unused', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore([l2Port(1)], [allocation('a', 'port-9', '2026-01-01')]);
    expect(losers).toHaveLength(1);
    expect(mapper.unused().map(({ port }) => port?.id)).toEqual(['port-1']);
  });

  test('treats a port as lost when its address is assigned again', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    const placement = mapper.place(request('b', [tcp(80)]));
    if (placement.kind !== 'make') throw new Error('a port is to be made');
    expect(mapper.made(placement.slot, { ...l2Port(1), id: 'port-1-again' })).toEqual(['a']);
    expect(mapper.slotOf('a', 4)).toBeUndefined();
    expect(mapper.slotOfPort('port-1')).toBeUndefined();
    expect(mapper.slotOf('b', 4)?.port?.id).toBe('port-1-again');
  });

  test('treats a port as unused if its slot was released during the creation', () => {
    const mapper = new PortMapper();
    const placement = mapper.place(request('a', [tcp(80)]));
    if (placement.kind !== 'make') throw new Error('a port is to be made');
    mapper.lost(placement.slot);
    mapper.made(placement.slot, l2Port(1));
    expect(mapper.unused().map(({ port }) => port?.id)).toEqual(['port-1']);
  });

  test('keeps an existing share across namespaces, but admits no other Service', () => {
    const mapper = new PortMapper();
    mapper.restore(
      [l2Port(1)],
      [
        { ...allocation('a', 'port-1', '1'), ...advertising(1), sharingGroup: 'ns:one' },
        { ...allocation('b', 'port-1', '2', [tcp(81)]), ...advertising(1), sharingGroup: 'ns:two' },
      ],
    );
    expect(place(mapper, request('a', [tcp(80)], { sharingGroup: 'ns:one' }))).toBe('port-1');
    expect(place(mapper, request('c', [tcp(82)], { sharingGroup: 'ns:one' }))).toBe('port-2');
  });
});

test('never gives an address, protocol and port to two owners, for any sequence of requests', () => {
  const owner = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const needs = fc.uniqueArray(fc.constantFrom(80, 81, 443), { minLength: 1 });
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('place' as const),
      owner,
      needs,
      sharingGroup: fc.constantFrom('x', 'y'),
      finish: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('settle' as const), owner }),
    fc.record({ kind: fc.constant('release' as const), owner }),
    fc.record({ kind: fc.constant('lose' as const), owner }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const mapper = new PortMapper();
      const seen = new Set<PortSlot>();
      for (const action of steps) {
        if (action.kind === 'place') {
          const { sharingGroup } = action;
          const wanted = request(action.owner, action.needs.map(tcp), {
            sharingGroup,
            namespace: sharingGroup,
          });
          const held = mapper.heldBy(action.owner, 4);
          const placement = mapper.place(wanted);
          if (placement.kind === 'refused' || placement.kind === 'leaving') {
            throw new Error('nothing was requested');
          }
          if (placement.kind === 'make' && action.finish) {
            mapper.made(placement.slot, l2Port(placement.slot.number));
          }
          seen.add(placement.slot);
          // Every Service keeps the placement on which it is served.
          expect(mapper.heldBy(action.owner, 4)).toEqual(held);
        } else if (action.kind === 'settle') {
          if (mapper.slotOf(action.owner, 4)?.port !== undefined) mapper.settle(action.owner, [4]);
        } else if (action.kind === 'release') {
          mapper.release(action.owner);
        } else {
          const slot = mapper.slotOf(action.owner, 4);
          if (slot !== undefined) mapper.lost(slot);
        }
        for (const slot of seen) expectNobodyTwice(mapper, slot);
      }
    }),
  );
});

function expectNobodyTwice(mapper: PortMapper, slot: PortSlot): void {
  const text = ({ protocol, port }: L4Port) => `${protocol}/${port}`;
  const used = [...slot.users.values()].flatMap(({ held, asked }) => [
    ...new Set([...held, ...asked].map(text)),
  ]);
  expect(new Set(used).size).toBe(used.length);
  for (const user of slot.users.keys()) {
    expect([mapper.slotOf(user, 4), mapper.heldBy(user, 4)?.slot]).toContain(slot);
  }
}
