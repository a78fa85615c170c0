import type { Family } from '@causeway/base/address/address';
import type { Rule } from '../model/expression.ts';
import { setNames } from '../model/names.ts';
import {
  destination,
  destinationPort,
  equals,
  isFamily,
  isNotPlainSyn,
  protocol,
  protocolNumbers,
  source,
  sourcePort,
  target,
} from '../model/operands.ts';
import type { DataType, SetDefinition } from '../model/ruleset.ts';

/** The map from a running connection to its backend. */
export function pinSet(family: Family): SetDefinition {
  const address: DataType = family === 4 ? 'ipv4_addr' : 'ipv6_addr';
  return {
    name: setNames.pins(family),
    key: [address, 'inet_service', address, 'inet_proto', 'inet_service'],
    value: [address, 'inet_service'],
    dynamic: true,
  };
}

/** The map from a running connection to its virtual address, for the packets of the backend. */
export function reversePinSet(family: Family): SetDefinition {
  const end: DataType[] = [family === 4 ? 'ipv4_addr' : 'ipv6_addr', 'inet_service'];
  return { name: setNames.reversePins(family), key: [...end, ...end], value: end, dynamic: true };
}

/**
 * A backend's packet of a connection that this machine has never seen: a pin takes precedence over the reverse
 * map, which has no element for a backend behind two frontends.
 */
export function reversePinRule(family: Family): Rule {
  return {
    statements: [
      equals(protocol, protocolNumbers.TCP),
      isNotPlainSyn,
      isFamily(family),
      {
        kind: 'snat',
        family,
        to: {
          kind: 'backend-map',
          map: setNames.reversePins(family),
          key: [source(family), sourcePort, destination(family), destinationPort],
        },
      },
    ],
  };
}

/**
 * A client's packet of a connection that this machine has never seen: a pin takes precedence over the slots.
 * Never for a plain SYN, which opens a new connection.
 */
export function pinRule(family: Family): Rule {
  return {
    statements: [
      equals(protocol, protocolNumbers.TCP),
      isNotPlainSyn,
      isFamily(family),
      {
        kind: 'dnat',
        family,
        to: {
          kind: 'backend-map',
          map: setNames.pins(family),
          key: [source(family), sourcePort, ...target(family)],
        },
      },
    ],
  };
}
