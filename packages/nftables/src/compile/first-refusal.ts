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

/** Longer than any client waits before it sends its first packet again. */
const rememberedSeconds = 5;

/**
 * A pod that ends closes its port before anybody hears that it is ending. What reaches it in between is
 * refused, although the service has other endpoints. So an endpoint's first refusal is dropped: the kernel
 * has forgotten the connection by then, and when the client sends its packet again, about a second later,
 * it is placed anew. If the same endpoint refuses it again, the client is told.
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
  /** To stand before what lets packets of running connections pass. */
  rule: rule(isEndingHere(), jump(chainNames.refusals)),
};

/**
 * The connection's destination was rewritten, and it ends with this very packet: a reset that is the first
 * answer makes the kernel forget it at once (IPS_DST_NAT, IPS_DYING).
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
    // What somebody else has rewritten is theirs. The count of the service goes up as by another try.
    isIn(originalTarget(family), setNames.counts(family)),
    { kind: 'remember', key, set, timeoutSeconds: rememberedSeconds },
    drop,
  );
}

function ends(family: Family): DataType[] {
  return [family === 4 ? 'ipv4_addr' : 'ipv6_addr', 'inet_service'];
}

function rule(...statements: Statement[]): Rule {
  return { statements };
}
