import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changes } from '../../../../test/contract/nftables/changes.ts';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { applyOperations } from '../plan/apply-operations.ts';
import { diff } from '../plan/diff.ts';
import { buildRuleset, Layout } from './layout.ts';
import { MemoryDriver } from '../drivers/memory-driver.ts';
import { emptyRuleset, ruleDigest, valueId, type Ruleset } from '../model/ruleset.ts';
import { isEmpty } from '../model/transaction.ts';
import type { LayoutChange } from './layout-change.ts';
import { serviceKey, type LayoutSettings, type VirtualService } from './virtual-service.ts';

const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 0x1234,
  localSources: [prefix('10.0.0.0/8'), prefix('fd00::/8')],
  hairpin: true,
  resumeConnections: true,
};

function service(overrides: Partial<VirtualService> = {}): VirtualService {
  return {
    address: address('192.0.2.1'),
    protocol: 'TCP',
    port: port(80),
    dispatch: {
      kind: 'slots',
      backends: [1, 2, 3].map((last) => ({
        address: address(`10.0.0.${last}`),
        port: port(8080),
      })),
    },
    ...overrides,
  };
}

/** The ruleset in a form that is independent of the order of chains, sets and elements. */
function fingerprint(ruleset: Ruleset): unknown {
  const chains = new Map(
    [...ruleset.chains.values()].map(({ name, base, rules }) => [
      name,
      { base, rules: rules.map(ruleDigest) },
    ]),
  );
  const sets = new Map(
    [...ruleset.sets.entries()].map(([name, set]) => [
      name,
      new Map([...set.elements].map(([id, element]) => [id, valueId(element.value)])),
    ]),
  );
  return { chains, sets };
}

describe('changes', () => {
  test('in sequence give the same result as building from scratch', () => {
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 6 }), (steps) => {
        const { layout, plan } = Layout.plan({ settings, services: [] });
        let kernel = applyOperations(emptyRuleset('causeway'), plan.transaction.operations);
        plan.accept();
        for (const change of steps) {
          const next = layout.plan(change);
          kernel = applyOperations(kernel, next.transaction.operations);
          next.accept();
          expect(fingerprint(kernel)).toEqual(fingerprint(layout.ruleset()));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('without a difference are empty', () => {
    const { layout, plan } = Layout.plan({ settings, services: [service()] });
    plan.accept();
    expect(isEmpty(layout.plan({ set: [service()] }).transaction)).toBe(true);
  });

  test('are found by diff as well, and diff finds nothing afterwards', async () => {
    const driver = new MemoryDriver('causeway');
    const inputs = [
      [service()],
      [service({ port: port(81) }), service({ sourceRanges: [prefix('10.0.0.0/8')] })],
      [],
    ];
    for (const input of inputs) {
      const wanted = buildRuleset({ settings, services: input });
      await driver.apply(diff(await driver.read(), wanted));
      expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
    }
  });

  test('list the removed backends', () => {
    const { layout, plan } = Layout.plan({ settings, services: [service()] });
    plan.accept();
    const rest = { kind: 'slots', backends: [{ address: address('10.0.0.1'), port: port(8080) }] };
    const next = layout.plan({ set: [service({ dispatch: rest as VirtualService['dispatch'] })] });
    expect(next.removedBackends.map((removed) => removed.address)).toEqual([
      '10.0.0.2',
      '10.0.0.3',
    ]);
  });

  test('list the nodes of a service with a node port when its dispatch changes', () => {
    const asleep = service({ dispatch: { kind: 'node-ports', nodePort: port(30_080) } });
    const nodes = ['10.0.0.1', '10.0.0.2', 'fd00::1'].map(address);
    const { layout, plan } = Layout.plan({ settings, services: [asleep], nodes });
    plan.accept();
    const backend = {
      protocol: 'TCP',
      port: 30_080,
      virtualAddress: '192.0.2.1',
      virtualPort: 80,
    };
    expect(layout.plan({ set: [service()] }).removedBackends).toEqual([
      { address: '10.0.0.1', keepsAnswered: true, backend },
      { address: '10.0.0.2', keepsAnswered: true, backend },
    ]);
    const awake = Layout.plan({ settings, services: [service()], nodes });
    awake.plan.accept();
    expect(awake.layout.plan({ set: [asleep] }).removedBackends).toMatchObject([
      { address: '10.0.0.1', keepsAnswered: true },
      { address: '10.0.0.2', keepsAnswered: true },
      { address: '10.0.0.3', keepsAnswered: true },
    ]);
    expect(layout.plan({ set: [{ ...asleep, affinity: { kind: 'client-hash' } }] })).toMatchObject({
      removedBackends: [],
    });
  });

  test('list nodes and pods without keepsAnswered where nothing else ends the flow', () => {
    const datagrams = (dispatch: VirtualService['dispatch']) =>
      service({ protocol: 'UDP', dispatch });
    const asleep = datagrams({ kind: 'node-ports', nodePort: port(30_080) });
    const awake = datagrams(service().dispatch);
    const nodes = [address('10.0.0.9')];
    const { layout, plan } = Layout.plan({ settings, services: [asleep], nodes });
    plan.accept();
    const moved = datagrams({ kind: 'node-ports', nodePort: port(31_000) });
    const left = (change: LayoutChange) =>
      layout
        .plan(change)
        .removedBackends.map(({ address: at, backend, keepsAnswered = false }) => [
          ...[at, backend?.port, keepsAnswered],
        ]);
    expect(left({ set: [moved] })).toEqual([['10.0.0.9', 30_080, false]]);
    // Its node answers the datagram that it has held.
    expect(left({ set: [awake] })).toEqual([['10.0.0.9', 30_080, true]]);
    layout.plan({ set: [awake] }).accept();
    expect(left({ set: [asleep] })).toEqual([
      ['10.0.0.1', 8080, false],
      ['10.0.0.2', 8080, false],
      ['10.0.0.3', 8080, false],
    ]);
  });

  test('let a draining backend keep its connections, and end its UDP flows when it leaves', () => {
    const slots = (...texts: string[]): VirtualService['dispatch'] => ({
      kind: 'slots',
      backends: texts.map((text) => ({ address: address(text), port: port(8080) })),
    });
    const [leaving] = [{ address: address('10.0.0.2'), port: port(8080) }];
    const reverse = (services: readonly VirtualService[]) =>
      [...(buildRuleset({ settings, services }).sets.get('reverse4')?.elements.values() ?? [])]
        .map(({ key }) => String(key[0]))
        .sort();
    for (const protocol of ['TCP', 'UDP'] as const) {
      const both = service({ protocol, dispatch: slots('10.0.0.1', '10.0.0.2') });
      const draining = { ...both, dispatch: slots('10.0.0.1'), draining: [leaving] };
      const alone = { ...both, dispatch: slots('10.0.0.1') };
      const { layout, plan } = Layout.plan({ settings, services: [both] });
      plan.accept();
      const drain = layout.plan({ set: [draining] });
      expect(drain.removedBackends).toMatchObject([{ address: '10.0.0.2', keepsAnswered: true }]);
      drain.accept();
      expect(reverse([draining])).toEqual(['10.0.0.1', '10.0.0.2']);
      const [gone] = layout.plan({ set: [alone] }).removedBackends;
      expect([gone?.address, gone?.keepsAnswered ?? false]).toEqual([
        '10.0.0.2',
        protocol === 'TCP',
      ]);
      expect(reverse([alone])).toEqual(['10.0.0.1']);
    }
  });

  test('list a removed service as a whole, because a backend may have left it before', () => {
    const alone = service({
      dispatch: { kind: 'slots', backends: [{ address: address('10.0.0.1'), port: port(8080) }] },
    });
    const { layout, plan } = Layout.plan({ settings, services: [alone] });
    plan.accept();
    expect(layout.plan({ remove: [serviceKey(alone)] }).removedBackends).toEqual([
      { service: { address: '192.0.2.1', protocol: 'TCP', port: 80 } },
    ]);
  });

  test.each([
    ['TCP', 0],
    ['UDP', 1],
  ] as const)(
    'of a removed node port are listed unless nodes refuse them: %s',
    (protocol, count) => {
      const nodePort = service({
        protocol,
        dispatch: { kind: 'node-ports', nodePort: port(30_080) },
      });
      const nodes = [address('10.0.0.9')];
      const { layout, plan } = Layout.plan({ settings, services: [nodePort], nodes });
      plan.accept();
      expect(layout.plan({ remove: [serviceKey(nodePort)] }).removedBackends).toHaveLength(count);
    },
  );

  test('keep draining nodes out of the slots, but recognize their answers', () => {
    const nodePort = service({ dispatch: { kind: 'node-ports', nodePort: port(30_080) } });
    const nodes = ['10.0.0.1', '10.0.0.2'].map(address);
    const { layout, plan } = Layout.plan({ settings, services: [nodePort], nodes });
    plan.accept();
    const change = { nodes: [address('10.0.0.1')], drainingNodes: [address('10.0.0.2')] };
    const next = layout.plan(change);
    expect(next.removedBackends).toEqual([{ address: '10.0.0.2' }]);
    next.accept();
    const { sets } = layout.ruleset();
    const values = [...(sets.get('nodes4')?.elements.values() ?? [])].map(({ value }) => value);
    expect(new Set(values.flat())).toEqual(new Set(['10.0.0.1']));
    const known = [...(sets.get('node-addresses4')?.elements.values() ?? [])];
    expect(known.map(({ key }) => String(key[0])).sort()).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  test('that are not supported are rejected with the name of the service', () => {
    const { layout } = Layout.plan({ settings, services: [] });
    const mixed = { kind: 'slots', backends: [{ address: address('fd00::1'), port: port(80) }] };
    expect(() =>
      layout.plan({ set: [service({ dispatch: mixed as VirtualService['dispatch'] })] }),
    ).toThrow('192.0.2.1 . TCP . 80');
    expect(() => layout.plan({ set: [service(), service()] })).toThrow('described twice');
  });
});
