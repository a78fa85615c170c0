import { describe, expect, it } from 'vitest';
import { parseAddress as address, type Address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { buildRuleset } from './compile/layout.ts';
import { traceDuringChange, tracePacket, type Trace } from './trace/packet-tracer.ts';
import { isRouted, routedRuleset } from './compile/routed-ruleset.ts';
import { emptyRuleset, type Ruleset } from './model/ruleset.ts';
import type { Dispatch, VirtualService } from './compile/virtual-service.ts';

const virtual = address('192.0.2.1');
const nodes = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(address);
const settings = {
  table: 'causeway',
  hashSeed: 7,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};

/** The tables of a gateway for one service. */
class Tables {
  readonly main: Ruleset;
  readonly routed: Ruleset;

  constructor(dispatch: Dispatch, known: readonly Address[] = nodes) {
    const service: VirtualService = { address: virtual, protocol: 'TCP', port: port(80), dispatch };
    const services = [service];
    this.main = buildRuleset({ settings, services, nodes: known });
    this.routed =
      routedRuleset(4, settings, services.filter(isRouted), known) ?? emptyRuleset('routed');
  }
}

/** Merges both tables; they have no name in common. */
function together(main: Ruleset, routed: Ruleset): Ruleset {
  return {
    table: main.table,
    chains: new Map([...main.chains, ...routed.chains]),
    sets: new Map([...main.sets, ...routed.sets]),
  };
}

/** The main table changes first, then the routed one. */
function tracesDuring(before: Tables, after: Tables, sourcePort: number): Trace[] {
  return traceDuringChange(
    [
      together(before.main, before.routed),
      together(after.main, before.routed),
      together(after.main, after.routed),
    ],
    {
      source: address('198.51.100.7'),
      destination: virtual,
      protocol: 6,
      sourcePort,
      destinationPort: 80,
    },
    { from: 'network', localAddresses: [virtual] },
  );
}

/** Destination of the packet; nothing if it is dropped and its client repeats it. */
function fate({ outcome, sentTo, packet }: Trace): string {
  if (sentTo !== undefined) return 'a node, unchanged';
  return outcome === 'forwarded' && packet.destination !== virtual ? 'rewritten' : outcome;
}

const pods = (...numbers: number[]): Dispatch => ({
  kind: 'slots',
  backends: numbers.map((number) => ({ address: address(`10.1.0.${number}`), port: port(8080) })),
});
const states: Record<string, Dispatch> = {
  'one pod': pods(1),
  'thirty pods': pods(...Array.from({ length: 30 }, (_, index) => index + 1)),
  'node ports': { kind: 'node-ports', nodePort: port(30_080) },
  'all nodes, unchanged': { kind: 'nodes-unchanged' },
  'one node, unchanged': { kind: 'nodes-unchanged', nodes: nodes.slice(1, 2) },
};

describe('a packet in transit through a gateway while the rules change', () => {
  const names = Object.keys(states);
  it.each(names.flatMap((from) => names.map((to) => [from, to] as const)))(
    'is neither refused nor answered by the gateway itself: %s, then %s',
    (from, to) => {
      const [before, after] = [from, to].map((name) => new Tables(states[name] ?? pods()));
      if (before === undefined || after === undefined) throw new RangeError('no such state');
      for (const sourcePort of [40_000, 40_001, 40_002]) {
        const fates = new Set(tracesDuring(before, after, sourcePort).map(fate));
        expect(['a node, unchanged', 'rewritten', 'dropped']).toEqual(
          expect.arrayContaining([...fates]),
        );
      }
    },
  );

  it.each<[string, Tables]>([
    ['no pods', new Tables(pods())],
    ['no nodes of its own', new Tables({ kind: 'nodes-unchanged', nodes: [] })],
    ['no nodes at all', new Tables({ kind: 'nodes-unchanged' }, [])],
  ])('is refused if the new rules say so: %s', (_, after) => {
    const fates = tracesDuring(new Tables(pods(1)), after, 40_000).map(fate);
    expect([fates[0], fates.at(-1)]).toEqual(['rejected', 'rewritten']);
  });

  it.each(Object.entries(states))(
    'has its copies forwarded to nodes for any dispatch: %s',
    (_, dispatch) => {
      const { main } = new Tables(dispatch);
      const copy = {
        source: address('198.51.100.7'),
        destination: virtual,
        protocol: 6,
        sourcePort: 40_000,
        destinationPort: 80,
        connection: { state: 'untracked' } as const,
      };
      // The copy is already routed: it does not matter that its destination is an address of the gateway.
      expect(tracePacket(main, copy, { from: 'local', localAddresses: [] }).outcome).toBe(
        'forwarded',
      );
    },
  );
});
