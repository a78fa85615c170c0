import type { Rule, Statement } from '../model/expression.ts';
import { chainNames, setNames } from '../model/names.ts';
import {
  accept,
  drop,
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
import type { LayoutSettings } from './virtual-service.ts';

const rule = (...statements: Statement[]): Rule => ({ statements });

/** Types of ICMP that an address must answer to: errors about its packets, neighbours; and echo where it is a machine's. */
const icmpTypes = [3, 11, 12];
const icmpv6Types = [1, 2, 3, 4, 135, 136];
const icmpEcho = 8;
const icmpv6Echo = 128;

/**
 * What reaches a virtual address without having been sent on: little is let in, the rest refused. A
 * packet that conntrack cannot place may belong to a running connection; a reset would end it, so it
 * is dropped and the other side sends it again.
 */
export function addressChains({ dropsUnallocated = false }: LayoutSettings): Chain[] {
  const routed = families.map((family) =>
    rule(isFamily(family), isIn(target(family), setNames.routed(family)), accept),
  );
  // A cluster address is nobody's: on a node an echo request would be sent on to who knows where.
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
        rule(isInvalid, drop),
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
