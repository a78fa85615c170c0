import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { PortMapper, type L2Port, type L4Port, type PlacementRequest } from './port-mapper.ts';

const tcp = (port: number): L4Port => ({ protocol: 'TCP', port: parsePort(port) });
const udp = (port: number): L4Port => ({ protocol: 'UDP', port: parsePort(port) });

function request(owner: string, needs: L4Port[], extra: Partial<PlacementRequest> = {}) {
  return { owner, needs, family: 4 as const, circle: 'ns:default', ...extra };
}

function l2Port(host: number): L2Port {
  const address = parseAddress(`192.0.2.${host}`);
  return { id: `port-${host}`, family: 4, address, publicAddress: address };
}

/** Places and, where one must be made, makes a port. Answers with the port's id. */
function place(mapper: PortMapper, wanted: PlacementRequest): string {
  const placement = mapper.place(wanted);
  if (placement.kind === 'leaving') return 'leaving';
  if (placement.kind === 'refused') return `refused: ${placement.reason} by ${placement.by}`;
  if (placement.kind === 'make') mapper.made(placement.slot, l2Port(placement.slot.number));
  return placement.slot.port?.id ?? 'pending';
}

describe('PortMapper', () => {
  test('Services of one namespace share an address as long as their ports differ', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(80)]))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(443)]))).toBe('port-1');
    expect(place(mapper, request('c', [tcp(80)]))).toBe('port-2');
  });

  test('the protocol is part of what is shared: TCP/53 and UDP/53 go together', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(53)]))).toBe('port-1');
    expect(place(mapper, request('b', [udp(53)]))).toBe('port-1');
  });

  test('namespaces share only where both name the same key', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(80)], { circle: 'ns:one' }))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(81)], { circle: 'ns:two' }))).toBe('port-2');
    expect(place(mapper, request('c', [tcp(80)], { circle: 'key:edge' }))).toBe('port-3');
    expect(place(mapper, request('d', [tcp(81)], { circle: 'key:edge' }))).toBe('port-3');
  });

  test('a Service keeps its address when its ports change, unless they clash', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    place(mapper, request('b', [tcp(443)]));
    expect(place(mapper, request('a', [tcp(80), tcp(8080)]))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(8080)]))).toBe('port-2');
    expect(place(mapper, request('a', [tcp(443)]))).toBe('port-1');
  });

  test('a second Service may join a port that is still being made', () => {
    const mapper = new PortMapper();
    const first = mapper.place(request('a', [tcp(80)]));
    const second = mapper.place(request('b', [tcp(81)]));
    expect(first.kind).toBe('make');
    expect(second).toMatchObject({ kind: 'placed' });
    if (first.kind !== 'make') return;
    expect(mapper.lost(first.slot)).toEqual(['a', 'b']);
    expect(mapper.slotOf('b', 4)).toBeUndefined();
  });

  test('a requested address is given, or refused with who has it', () => {
    const mapper = new PortMapper();
    const requested = parseAddress('192.0.2.1');
    expect(place(mapper, request('a', [tcp(80)], { requested }))).toBe('port-1');
    expect(place(mapper, request('b', [tcp(81)], { requested }))).toBe('port-1');
    expect(place(mapper, request('c', [tcp(80)], { requested }))).toBe('refused: taken by a');
    const foreign = request('d', [tcp(82)], { requested, circle: 'ns:other' });
    expect(place(mapper, foreign)).toBe('refused: other-circle by a');
    // A refusal takes nothing away.
    expect(mapper.slotOf('a', 4)?.port?.id).toBe('port-1');
  });

  test('each family has its own port', () => {
    const mapper = new PortMapper();
    expect(place(mapper, request('a', [tcp(80)]))).toBe('port-1');
    expect(place(mapper, request('a', [tcp(80)], { family: 6 }))).toBe('port-2');
    expect(mapper.release('a').map(({ number }) => number)).toEqual([1, 2]);
  });

  test('a port that nobody uses is on its way out: nobody is placed on it any more', () => {
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
  const claim = (owner: string, portId: string, createdAt: string, needs = [tcp(80)]) => ({
    owner,
    portId,
    family: 4 as const,
    createdAt,
    needs,
    isAsItWas: true,
    circle: 'ns:default',
  });

  test('everyone keeps what the annotation says; of two that clash, the older one', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore(
      [l2Port(1), l2Port(2)],
      [
        claim('young', 'port-1', '2026-02-01'),
        claim('old', 'port-1', '2026-01-01'),
        claim('b', 'port-2', '2026-03-01'),
      ],
    );
    expect(losers.map(({ owner }) => owner)).toEqual(['young']);
    expect(mapper.slotOf('old', 4)?.port?.id).toBe('port-1');
    expect(mapper.slotOf('b', 4)?.port?.id).toBe('port-2');
  });

  test('who asks for something else than it held comes after those who hold it, however old it is', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore(
      [l2Port(1)],
      [
        { ...claim('old', 'port-1', '2026-01-01'), isAsItWas: false },
        claim('young', 'port-1', '2026-02-01'),
      ],
    );
    expect(losers.map(({ owner }) => owner)).toEqual(['old']);
  });

  test('a Service that gives up a family keeps what it has in the other', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    place(mapper, request('a', [tcp(80)], { family: 6 }));
    mapper.release('a', [6]);
    expect(mapper.slotOf('a', 4)).toBeDefined();
    expect(mapper.slotOf('a', 6)).toBeUndefined();
    expect(mapper.unused()).toHaveLength(1);
  });

  test('of two of the same age the lower UID keeps it, whatever the order they come in', () => {
    const claims = [claim('b', 'port-1', '2026-01-01'), claim('a', 'port-1', '2026-01-01')];
    for (const order of [claims, [...claims].reverse()]) {
      const mapper = new PortMapper();
      expect(mapper.restore([l2Port(1)], order).map(({ owner }) => owner)).toEqual(['b']);
    }
  });

  test('a port that is gone is lost, and one that nobody claims is unused', () => {
    const mapper = new PortMapper();
    const losers = mapper.restore([l2Port(1)], [claim('a', 'port-9', '2026-01-01')]);
    expect(losers).toHaveLength(1);
    expect(mapper.unused().map(({ port }) => port?.id)).toEqual(['port-1']);
  });

  test('an address that is given anew shows that the port that had it is gone', () => {
    const mapper = new PortMapper();
    place(mapper, request('a', [tcp(80)]));
    const placement = mapper.place(request('b', [tcp(80)]));
    if (placement.kind !== 'make') throw new Error('a port is to be made');
    expect(mapper.made(placement.slot, { ...l2Port(1), id: 'port-1-again' })).toEqual(['a']);
    expect(mapper.slotOf('a', 4)).toBeUndefined();
    expect(mapper.slotOfPort('port-1')).toBeUndefined();
    expect(mapper.slotOf('b', 4)?.port?.id).toBe('port-1-again');
  });

  test('a port that is made for a slot that was given up meanwhile is there and unused', () => {
    const mapper = new PortMapper();
    const placement = mapper.place(request('a', [tcp(80)]));
    if (placement.kind !== 'make') throw new Error('a port is to be made');
    mapper.lost(placement.slot);
    mapper.made(placement.slot, l2Port(1));
    expect(mapper.unused().map(({ port }) => port?.id)).toEqual(['port-1']);
  });

  test('what is shared between namespaces already stays, but nobody new joins', () => {
    const mapper = new PortMapper();
    mapper.restore(
      [l2Port(1)],
      [
        { ...claim('a', 'port-1', '1'), circle: 'ns:one' },
        { ...claim('b', 'port-1', '2', [tcp(81)]), circle: 'ns:two' },
      ],
    );
    expect(place(mapper, request('a', [tcp(80)], { circle: 'ns:one' }))).toBe('port-1');
    expect(place(mapper, request('c', [tcp(82)], { circle: 'ns:one' }))).toBe('port-2');
  });
});

test('whatever is asked for in whatever order, no address, protocol and port has two owners', () => {
  const owner = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const needs = fc.uniqueArray(fc.constantFrom(80, 81, 443), { minLength: 1 });
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('place' as const),
      owner,
      needs,
      circle: fc.constantFrom('x', 'y'),
      finish: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('release' as const), owner }),
    fc.record({ kind: fc.constant('lose' as const), owner }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const mapper = new PortMapper();
      const seen = new Set<NonNullable<ReturnType<PortMapper['slotOf']>>>();
      for (const action of steps) {
        if (action.kind === 'place') {
          const placement = mapper.place(
            request(action.owner, action.needs.map(tcp), { circle: action.circle }),
          );
          if (placement.kind === 'refused' || placement.kind === 'leaving') {
            throw new Error('nothing was requested');
          }
          if (placement.kind === 'make' && action.finish) {
            mapper.made(placement.slot, l2Port(placement.slot.number));
          }
          seen.add(placement.slot);
        } else if (action.kind === 'release') {
          mapper.release(action.owner);
        } else {
          const slot = mapper.slotOf(action.owner, 4);
          if (slot !== undefined) mapper.lost(slot);
        }
        for (const slot of seen) {
          const used = [...slot.users.values()]
            .flat()
            .map(({ protocol, port }) => `${protocol}/${port}`);
          expect(new Set(used).size).toBe(used.length);
          for (const user of slot.users.keys()) expect(mapper.slotOf(user, 4)).toBe(slot);
        }
      }
    }),
  );
});
