import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Statement } from '../model/expression.ts';
import { FragmentBuilder, type Fragment } from './fragment.ts';
import { nodesChain, setNames, type HashBy } from '../model/names.ts';
import {
  equals,
  families,
  isFamily,
  protocol,
  protocolNumbers,
  target,
} from '../model/operands.ts';
import type { Chain } from '../model/ruleset.ts';
import { hashed } from './skeleton.ts';
import { buildSlotTable } from './slot-table.ts';
import type { LayoutSettings } from './virtual-service.ts';

/**
 * The nodes that all node-port services share: one slot table for all, so the number of elements is nodes
 * plus services and not nodes times services. Draining nodes are in no slot.
 */
export function nodesFragment(
  nodes: readonly Address[],
  draining: readonly Address[],
  { hashSeed: seed, insiders }: Pick<LayoutSettings, 'hashSeed' | 'insiders'>,
): Fragment {
  // A layout with insiders runs on a node, which dispatches to no nodes.
  const needsNodes = insiders === undefined;
  const fragment = new FragmentBuilder();
  for (const family of families) {
    const members = nodes.filter((node) => familyOf(node) === family);
    // The port has no effect: it only gives a node the form of a backend.
    const port = parsePort(1);
    const table = buildSlotTable(
      members.map((address) => ({ address, port })),
      seed,
    );
    for (const [slot, { address }] of table.entries()) {
      fragment.element(setNames.nodes(family), [slot], [address]);
    }
    if (needsNodes && table.length === 0) {
      for (const number of Object.values(protocolNumbers)) {
        fragment.element(setNames.nodeless(family), [number]);
      }
    }
    const leaving = draining.filter((node) => familyOf(node) === family);
    for (const address of new Set([...members, ...leaving])) {
      fragment.element(setNames.nodeAddresses(family), [address]);
    }
    for (const by of ['connection', 'client'] as const) {
      fragment.chains.push(chainOver(family, by, table.length, seed));
    }
  }
  return fragment;
}

/** Without nodes the chain is empty, so connections fall through and are rejected. */
function chainOver(family: Family, by: HashBy, slots: number, seed: number): Chain {
  const name = nodesChain(family, by);
  if (slots === 0) return { name, rules: [] };
  const dnat: Statement = {
    kind: 'dnat',
    family,
    to: {
      kind: 'split-maps',
      addressMap: setNames.nodes(family),
      addressKey: [{ kind: 'hash', of: hashed(family, by), modulus: slots, seed }],
      portMap: setNames.nodePorts(family),
      portKey: target(family),
    },
  };
  // One rule per protocol: nft accepts no set of protocols for a match where the port has its own map.
  const numbers = Object.values(protocolNumbers);
  return {
    name,
    rules: numbers.map((number) => ({
      statements: [isFamily(family), equals(protocol, number), dnat],
    })),
  };
}
