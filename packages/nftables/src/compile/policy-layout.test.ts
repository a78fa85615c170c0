import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { emptyRuleset } from '../model/ruleset.ts';
import { applyOperations } from '../plan/apply-operations.ts';
import { buildRuleset, Layout } from './layout.ts';
import type { IngressPolicy, LayoutSettings, PodPolicies } from './virtual-service.ts';

const settings: LayoutSettings = {
  table: 'policies',
  hashSeed: 7,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1'].map(parseAddress);
const keyOf = ({ namespace, name }: IngressPolicy) => `${namespace}/${name}`;
const policy = (name: string, port: number): IngressPolicy => ({
  namespace: 'shop',
  name,
  allow: [{ ports: [{ protocol: 'TCP', first: parsePort(port) }] }],
});

/** What a gateway knows: the pods' policies, and the contents of policies. */
interface World {
  readonly pods: ReadonlyMap<Address, readonly string[]>;
  readonly contents: ReadonlyMap<string, IngressPolicy>;
}

/** The pods and the policies that one of them uses. */
function inputOf({ pods, contents }: World, only: Iterable<Address> = pods.keys()) {
  const selected: PodPolicies[] = [];
  const used = new Map<string, IngressPolicy>();
  for (const address of only) {
    const policies = pods.get(address);
    if (policies === undefined) continue;
    const known = policies.flatMap((key) => contents.get(key) ?? []);
    for (const each of known) used.set(keyOf(each), each);
    selected.push({ address, policies: known.map(keyOf) });
  }
  return { pods: selected, policies: [...used.values()] };
}

/** The edits of the pods whose policies or their contents differ. */
function editsBetween(before: World, after: World) {
  const touched = addresses.filter(
    (address) => !isDeepStrictEqual(inputOf(before, [address]), inputOf(after, [address])),
  );
  const { pods, policies } = inputOf(after, touched);
  const podEdits = new Map<Address, PodPolicies | undefined>();
  for (const address of touched) podEdits.set(address, undefined);
  for (const pod of pods) podEdits.set(pod.address, pod);
  return { podEdits, policyEdits: new Map(policies.map((each) => [keyOf(each), each])) };
}

const names = ['a', 'b', 'c'];
const worlds = fc.record({
  pods: fc
    .array(
      fc.tuple(fc.constantFrom(...addresses), fc.subarray(names.map((name) => `shop/${name}`))),
    )
    .map((entries) => new Map(entries)),
  contents: fc
    .array(fc.tuple(fc.constantFrom(...names), fc.integer({ min: 1, max: 3 })))
    .map((entries) => new Map(entries.map(([name, port]) => [`shop/${name}`, policy(name, port)]))),
});

describe('changes of policies by key', () => {
  test('give the same rules as all policies at once', () => {
    fc.assert(
      fc.property(fc.array(worlds, { minLength: 1, maxLength: 6 }), (steps) => {
        const { layout, plan } = Layout.plan({ settings, services: [] });
        let rules = applyOperations(emptyRuleset(settings.table), plan.transaction.operations);
        plan.accept();
        let before: World = { pods: new Map(), contents: new Map() };
        for (const world of steps) {
          const next = layout.plan(editsBetween(before, world));
          rules = applyOperations(rules, next.transaction.operations);
          next.accept();
          before = world;
          expect(rules).toEqual(buildRuleset({ settings, services: [], ...inputOf(world) }));
        }
      }),
      { numRuns: 25 },
    );
  });

  test('touch only the pods that changed', () => {
    const many = Array.from({ length: 200 }, (_, index) => parseAddress(`10.1.0.${index + 1}`));
    const pods = new Map(many.map((address) => [address, ['shop/a']] as const));
    const contents = new Map(['a', 'b'].map((name) => [`shop/${name}`, policy(name, 80)]));
    const { layout, plan } = Layout.plan({
      settings,
      services: [],
      ...inputOf({ pods, contents }),
    });
    plan.accept();
    const [first] = many as [Address];
    const change = inputOf({ pods: new Map([[first, ['shop/b']]]), contents });
    const next = layout.plan({
      podEdits: new Map(change.pods.map((pod) => [pod.address, pod])),
      policyEdits: new Map(change.policies.map((each) => [keyOf(each), each])),
    });
    const touched = next.transaction.operations.flatMap((operation) =>
      'elements' in operation && operation.set.name.startsWith('pods')
        ? operation.elements.map(({ key }) => key[0])
        : [],
    );
    expect(new Set(touched)).toEqual(new Set([first]));
  });
});
