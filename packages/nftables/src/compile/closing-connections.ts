import type { Family } from '@causeway/base/address/address';
import type { Operand, Rule, Statement } from '../model/expression.ts';
import type { FragmentBuilder } from './fragment.ts';
import { chainNames, setNames } from '../model/names.ts';
import {
  destination,
  destinationPort,
  drop,
  equals,
  families,
  goto,
  isFamily,
  isFin,
  isIn,
  protocol,
  protocolNumbers,
  source,
  sourcePort,
  tcpAck,
} from '../model/operands.ts';
import type { Chain, DataType } from '../model/ruleset.ts';
import type { LayoutSettings } from './virtual-service.ts';

/** Longer than the interval between two transmissions of a FIN after an interruption of half a minute. */
const keptSeconds = 60;

/** Before conntrack (-200), and before the routed tables (-300). */
const beforeConntrack = -310;

/**
 * Conntrack starts a connection in mid-stream with any packet that has an ACK, except for a FIN. So a
 * connection that closes during a failover would hang: each FIN is dropped. These rules store the connection
 * of a dropped FIN, and clear the flag in its next transmission. Conntrack starts the connection with that
 * packet. The sender gets no acknowledgement of its FIN, and the third transmission passes unchanged.
 */
export function addClosingConnections(fragment: FragmentBuilder, settings: LayoutSettings): void {
  if (!settings.resumeConnections) return;
  for (const family of families) {
    const end: DataType[] = [family === 4 ? 'ipv4_addr' : 'ipv6_addr', 'inet_service'];
    fragment.sets.push({ name: setNames.closing(family), key: [...end, ...end], dynamic: true });
  }
  fragment.chains.push(unplaced, clearing);
}

/** What happens to a packet that conntrack can't assign: a FIN is stored first, and every packet is dropped. */
export function dropUnplaced(settings: LayoutSettings): Statement {
  return settings.resumeConnections ? goto(chainNames.unplaced) : drop;
}

const rule = (...statements: Statement[]): Rule => ({ statements });

const connection = (family: Family): Operand[] => [
  source(family),
  sourcePort,
  destination(family),
  destinationPort,
];

const finOf = (family: Family): Statement[] => [
  equals(protocol, protocolNumbers.TCP),
  isFin,
  isFamily(family),
];

/** If the set is full, the FIN is only dropped. */
const unplaced: Chain = {
  name: chainNames.unplaced,
  rules: [
    ...families.map((family) =>
      rule(...finOf(family), {
        kind: 'remember',
        key: connection(family),
        set: setNames.closing(family),
        timeoutSeconds: keptSeconds,
      }),
    ),
    rule(drop),
  ],
};

const clearing: Chain = {
  name: chainNames.rawPrerouting,
  base: { type: 'filter', hook: 'prerouting', priority: beforeConntrack },
  rules: families.map((family) =>
    rule(
      ...finOf(family),
      isIn(connection(family), setNames.closing(family)),
      { kind: 'forget', key: connection(family), set: setNames.closing(family) },
      { kind: 'set-tcp-flags', flags: tcpAck },
    ),
  ),
};
