import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  addressFromInteger,
  parseAddress as address,
} from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { KernelPins } from '../../../packages/nftables/src/pins/kernel-pins.ts';
import { reversePinOf, type Pin } from '../../../packages/nftables/src/pins/pin.ts';
import { diff, replacement } from '../../../packages/nftables/src/plan/diff.ts';
import type { Driver } from '../../../packages/nftables/src/drivers/driver.ts';
import { buildRuleset, Layout } from '../../../packages/nftables/src/compile/layout.ts';
import { guardRule } from '../../../packages/nftables/src/compile/listener-guard.ts';
import { MemoryDriver } from '../../../packages/nftables/src/drivers/memory-driver.ts';
import { NetlinkDriver } from '../../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { NftDriver } from '../../../packages/nftables/src/drivers/nft-driver.ts';
import {
  ruleDigest,
  valueId,
  type PresentRuleset,
  type Ruleset,
  type SetDefinition,
} from '../../../packages/nftables/src/model/ruleset.ts';
import { supports } from '../../../packages/nftables/src/drivers/supports.ts';
import { isEmpty, TransactionError } from '../../../packages/nftables/src/model/transaction.ts';
import { canUseNamespaces, TestNetwork, type Host } from '../../services/namespaces.ts';
import { changes } from './changes.ts';
import { everything, slots } from './sample.ts';

const pin = (to: string, backend: string): Pin => ({
  client: address(to.includes(':') ? '2001:db8::99' : '198.51.100.9'),
  clientPort: port(40_000),
  address: address(to),
  port: port(80),
  backend: address(backend),
  backendPort: port(8080),
});
const table = 'contract';
const addresses: SetDefinition = { name: 'addresses4', key: ['ipv4_addr'] };

interface Implementation {
  readonly name: string;
  readonly needsKernel: boolean;
  readonly open: (host: Host | undefined) => Promise<Driver>;
}

const implementations: readonly Implementation[] = [
  { name: 'memory', needsKernel: false, open: () => Promise.resolve(new MemoryDriver(table)) },
  {
    name: 'netlink',
    needsKernel: true,
    open: (host) => NetlinkDriver.open({ table, networkNamespace: host?.path ?? '' }),
  },
  {
    name: 'netlink without ownership',
    needsKernel: true,
    open: (host) => NetlinkDriver.open({ table, networkNamespace: host?.path ?? '', own: false }),
  },
  {
    name: 'nft',
    needsKernel: true,
    open: (host) => Promise.resolve(new NftDriver({ table, networkNamespace: host?.path ?? '' })),
  },
];

function contents(ruleset: PresentRuleset | Ruleset | undefined) {
  if (ruleset === undefined) return undefined;
  const chains = [...ruleset.chains].map(([name, { base, rules }]) => [
    name,
    { base, rules: rules.map((rule) => (typeof rule === 'string' ? rule : ruleDigest(rule))) },
  ]);
  const sets = [...ruleset.sets].map(([name, { definition, elements }]) => [
    name,
    { definition, elements: new Map([...elements].map(([id, e]) => [id, valueId(e.value)])) },
  ]);
  return { chains: new Map(chains as never), sets: new Map(sets as never) };
}

describe.each(implementations)('the $name driver', ({ needsKernel, open }) => {
  const isSupported = !needsKernel || canUseNamespaces();
  let network: TestNetwork | undefined;
  let host: Host | undefined;
  let driver: Driver;

  beforeAll(async () => {
    if (!needsKernel || !isSupported) return;
    network = await TestNetwork.create();
  });
  afterAll(() => network?.remove());
  beforeEach(async ({ skip }) => {
    if (!isSupported) skip();
    host = await network?.host(`h${Math.random().toString(36).slice(2, 8)}`);
    driver = await open(host);
  });
  afterEach(() => driver.close());

  test('finds nothing in an empty kernel', async () => {
    expect(await driver.read()).toBeUndefined();
  });

  test('detects whether the kernel supports a rule, and changes nothing', async () => {
    const wanted = buildRuleset(everything(table));
    await driver.apply(diff(undefined, wanted));
    expect(await supports(driver, guardRule)).toBe(true);
    expect(contents(await driver.read())).toEqual(contents(wanted));
  });

  test('reads back exactly the applied state', async () => {
    const wanted = buildRuleset(everything(table));
    await driver.apply(diff(undefined, wanted));
    const present = await driver.read();
    expect(contents(present)).toEqual(contents(wanted));
    expect(isEmpty(diff(present, wanted))).toBe(true);
  });

  test('follows a layout from change to change', async () => {
    const { layout, plan } = Layout.plan({ ...everything(table), services: [], nodes: [] });
    await driver.apply(plan.transaction);
    plan.accept();
    const { services, nodes = [] } = everything(table);
    const changes = [
      { set: services },
      { nodes },
      { set: services.map((s) => ({ ...s, dispatch: slots() })) },
      { set: services, policies: [], pods: [] },
      { remove: [...layout.services.keys()], set: services.slice(0, 2), nodes: nodes.slice(0, 1) },
    ];
    for (const change of changes) {
      const next = layout.plan(change);
      await driver.apply(next.transaction);
      next.accept();
      expect(isEmpty(diff(await driver.read(), layout.ruleset()))).toBe(true);
    }
  });

  test('accepts every change that a layout can plan', async () => {
    const { layout, plan } = Layout.plan({ ...everything(table), services: [] });
    await driver.apply(plan.transaction);
    plan.accept();
    for (const change of fc.sample(changes, { numRuns: 40, seed: 5 })) {
      const next = layout.plan(change);
      await driver.apply(next.transaction);
      next.accept();
    }
    expect(isEmpty(diff(await driver.read(), layout.ruleset()))).toBe(true);
  });

  test('replaces a table as a whole, with any content', async () => {
    await driver.apply(replacement(buildRuleset(everything(table))));
    const empty = buildRuleset({ ...everything(table), services: [], nodes: [] });
    await driver.apply(replacement(empty));
    expect(contents(await driver.read())).toEqual(contents(empty));
  });

  test('changes nothing when one element is invalid, and names it', async () => {
    const wanted = buildRuleset(everything(table));
    await driver.apply(diff(undefined, wanted));
    const fresh = { key: [address('198.51.100.9')] };
    const doubled = { key: [address('192.0.2.3')] };
    const elements = [fresh, { key: [address('198.51.100.10')] }, doubled];
    const failure = driver.apply({
      table,
      operations: [{ op: 'add-elements', set: addresses, elements }],
    });
    await expect(failure).rejects.toBeInstanceOf(TransactionError);
    await expect(failure).rejects.toMatchObject({ code: 'conflict', element: doubled });
    expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
  });

  test('applies a large transaction as a whole, or nothing of it', async () => {
    const wanted = buildRuleset(everything(table));
    await driver.apply(diff(undefined, wanted));
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      key: [addressFromInteger(0x64000000n + BigInt(index), 4)],
    }));
    const last = { key: [address('192.0.2.3')] };
    const failure = driver.apply({
      table,
      operations: [{ op: 'add-elements', set: addresses, elements: [...many, last] }],
    });
    await expect(failure).rejects.toMatchObject({ element: last });
    expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
    await driver.apply({
      table,
      operations: [{ op: 'add-elements', set: addresses, elements: many }],
    });
    const present = await driver.read();
    expect(present?.sets.get('addresses4')?.elements.size).toBeGreaterThan(20_000);
  });

  test('keeps pins with a timeout, which are no part of the ruleset', async () => {
    const wanted = buildRuleset(everything(table));
    await driver.apply(diff(undefined, wanted));
    const pins = new KernelPins(driver, 3_600);
    const [first, second] = [pin('192.0.2.7', '10.0.0.1'), pin('2001:db8::7', 'fd00::1')];
    await pins.apply({ set: [first, second], remove: [] });
    await pins.apply({ set: [{ ...first, backend: address('10.0.0.2') }], remove: [second] });
    expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
    const read = await new KernelPins(driver, 3_600).load();
    expect(read).toEqual([{ ...first, backend: address('10.0.0.2') }]);
    await driver.apply({ table, operations: [{ op: 'flush-set', set: 'pins4', isMap: true }] });
    await pins.apply({ set: [second], remove: [first] });
    expect(await new KernelPins(driver, 3_600).load()).toEqual([second]);
  });

  test('keeps the way back of a pin, which the newer one of two pins has', async () => {
    await driver.apply(diff(undefined, buildRuleset(everything(table))));
    const pins = new KernelPins(driver, 3_600);
    const [older, newer] = [pin('192.0.2.7', '10.0.0.1'), pin('192.0.2.8', '10.0.0.1')];
    const waysBack = async () => (await driver.elements('reverse-pins4')).map(reversePinOf);
    await pins.apply({ set: [older], remove: [] });
    expect(await waysBack()).toEqual([older]);
    await pins.apply({ set: [newer], remove: [] });
    expect(await waysBack()).toEqual([newer]);
    const next = new KernelPins(driver, 3_600);
    await next.load();
    await next.apply({ set: [], remove: [older] });
    expect(await waysBack()).toEqual([newer]);
    await next.apply({ set: [{ ...newer, backend: address('10.0.0.2') }], remove: [] });
    expect(await waysBack()).toEqual([{ ...newer, backend: address('10.0.0.2') }]);
    await next.rewrite();
    await next.apply({ set: [], remove: [newer] });
    expect(await waysBack()).toEqual([]);
  });

  test('names an element that cannot be removed', async () => {
    await driver.apply(diff(undefined, buildRuleset(everything(table))));
    const missing = { key: [address('198.51.100.9')] };
    const there = { key: [address('192.0.2.3')] };
    const failure = driver.apply({
      table,
      operations: [{ op: 'remove-elements', set: addresses, elements: [there, missing] }],
    });
    await expect(failure).rejects.toMatchObject({ element: missing });
  });

  test('rejects changes of a missing table', async () => {
    const failure = driver.apply({
      table,
      operations: [{ op: 'flush-set', set: 'addresses4' }],
    });
    await expect(failure).rejects.toBeInstanceOf(TransactionError);
  });

  test('applies nothing once the signal has fired', async () => {
    const wanted = buildRuleset(everything(table));
    const failure = driver.apply(diff(undefined, wanted), AbortSignal.abort());
    await expect(failure).rejects.toMatchObject({ code: 'aborted' });
    expect(await driver.read()).toBeUndefined();
  });

  test('counts for each service', async () => {
    await driver.apply(diff(undefined, buildRuleset(everything(table))));
    const counters = await driver.counters('counts4');
    expect(counters.get('192.0.2.1 . 6 . 80')).toEqual({ packets: 0n, bytes: 0n });
    expect(counters.size).toBe(9);
  });

  test('leaves other tables alone', async () => {
    if (host === undefined) return;
    const foreign = 'table ip other { chain c { counter; }; set s { type ipv4_addr; }; }';
    await host.loadRules(foreign);
    await driver.apply(replacement(buildRuleset(everything(table))));
    await driver.apply({ table, operations: [{ op: 'remove-table' }] });
    expect(await host.run('nft', 'list', 'tables')).toBe('table ip other\n');
  });
});
