import type { Family } from '@causeway/base/address/address';
import type { Operand, Rule, Statement } from '../model/expression.ts';
import { chainNames, setNames } from '../model/names.ts';
import {
  destination,
  destinationPort,
  drop,
  equals,
  families,
  isFamily,
  isIn,
  isNotIn,
  isReply,
  isReset,
  jump,
  originalTarget,
  protocol,
  protocolNumbers,
  source,
  sourcePort,
} from '../model/operands.ts';
import type { Chain, DataType, SetDefinition } from '../model/ruleset.ts';

/** Longer than the retransmission timeout of any client's first packet. */
const keptSeconds = 5;

/**
 * A terminating pod closes its port before the proxy learns of it. Connections in between are refused,
 * although the service has other backends. So the first refusal of a backend is dropped. By then the
 * kernel has deleted the connection. The client repeats its packet about a second later, and the packet is
 * dispatched again. If the same backend refuses it again, the client receives the refusal.
 */
export const firstRefusal = {
  sets: families.map(
    (family): SetDefinition => ({
      name: setNames.refusals(family),
      key: [...ends(family), ...ends(family)],
      dynamic: true,
    }),
  ),
  chain: { name: chainNames.refusals, rules: families.map(dropFirst) } satisfies Chain,
  /** Must come before the rules that accept packets of running connections. */
  rule: rule(isEndingHere(), jump(chainNames.refusals)),
};

/**
 * The connection's destination was rewritten, and this packet ends it: if the first answer is a reset, the
 * kernel deletes the connection immediately (IPS_DST_NAT, IPS_DYING).
 */
function isEndingHere(): Statement {
  const bits = 0x220;
  const operand: Operand = { kind: 'connection-status' };
  return { kind: 'compare', operand, mask: bits, equal: true, value: bits };
}

function dropFirst(family: Family): Rule {
  const set = setNames.refusals(family);
  const key = [destination(family), destinationPort, source(family), sourcePort];
  return rule(
    ...[equals(protocol, protocolNumbers.TCP), isReset, isReply, isFamily(family)],
    isNotIn(key, set),
    // Only connections that our rules rewrote. The repeated packet increases the service's counter once more.
    isIn(originalTarget(family), setNames.counts(family)),
    { kind: 'remember', key, set, timeoutSeconds: keptSeconds },
    drop,
  );
}

function ends(family: Family): DataType[] {
  return [family === 4 ? 'ipv4_addr' : 'ipv6_addr', 'inet_service'];
}

function rule(...statements: Statement[]): Rule {
  return { statements };
}
