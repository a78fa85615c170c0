import type { Rule, Statement } from '../model/expression.ts';
import { chainNames, setNames } from '../model/names.ts';
import {
  accept,
  equals,
  families,
  goto,
  isFamily,
  isIn,
  isInvalid,
  isReply,
  protocol,
  protocolNumbers,
  target,
} from '../model/operands.ts';
import type { Chain } from '../model/ruleset.ts';
import { dropUnplaced } from './closing-connections.ts';
import type { LayoutSettings } from './virtual-service.ts';

const rule = (...statements: Statement[]): Rule => ({ statements });

/**
 * ICMP types that an address must accept: errors about its packets, neighbor discovery, and echo on an
 * address of the machine.
 */
const icmpTypes = [3, 11, 12];
const icmpv6Types = [1, 2, 3, 4, 135, 136];
const icmpEcho = 8;
const icmpv6Echo = 128;

/**
 * Handles packets to a virtual address that were not forwarded: a few are accepted, the rest is rejected. A
 * packet that conntrack can't assign may belong to a running connection. A reset would end it, so the packet
 * is dropped and the sender repeats it.
 */
export function addressChains(settings: LayoutSettings): Chain[] {
  const { dropsUnallocated = false } = settings;
  const routed = families.map((family) =>
    rule(isFamily(family), isIn(target(family), setNames.routed(family)), accept),
  );
  // No machine has a cluster address: a node would forward an echo request to an unknown destination.
  const isMachines = !dropsUnallocated;
  const icmp = [...(isMachines ? [icmpEcho] : []), ...icmpTypes].map((type) =>
    rule(isFamily(4), equals(protocol, 1), equals({ kind: 'icmp-type' }, type), accept),
  );
  const icmpv6 = [...(isMachines ? [icmpv6Echo] : []), ...icmpv6Types].map((type) =>
    rule(isFamily(6), equals(protocol, 58), equals({ kind: 'icmpv6-type' }, type), accept),
  );
  return [
    {
      name: chainNames.virtualAddress,
      rules: [
        rule(isInvalid, dropUnplaced(settings)),
        rule(isReply, accept),
        ...icmp,
        ...icmpv6,
        ...routed,
        rule(goto(chainNames.refuse)),
      ],
    },
    {
      name: chainNames.refuse,
      rules: [
        rule(equals(protocol, protocolNumbers.TCP), { kind: 'reject', reason: 'tcp-reset' }),
        rule({ kind: 'reject', reason: 'port-unreachable' }),
      ],
    },
  ];
}
