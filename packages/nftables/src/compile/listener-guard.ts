import { familyOf, type Family } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import type { Operand, Rule, Statement } from '../model/expression.ts';
import type { FragmentBuilder } from './fragment.ts';
import { chainNames, listeners, setNames } from '../model/names.ts';
import {
  accept,
  destinationPort,
  drop,
  equals,
  families,
  goto,
  hasSocket,
  isDestinationRewritten,
  isFamily,
  isIn,
  isUnderWay,
  originalTarget,
  protocol,
  protocolNumbers,
} from '../model/operands.ts';
import type { Chain, SetDefinition } from '../model/ruleset.ts';
import { addressType } from './skeleton.ts';
import type { VirtualService } from './virtual-service.ts';

const rule = (...statements: Statement[]): Rule => ({ statements });

/**
 * Protects a listener from connections that its service did not send there: a direct connection to its port
 * would bypass the service's source ranges. While no process listens, for example after a crash, packets are
 * dropped and not rejected: the kernel's reset would end the client's attempt. The guard exists only while a
 * service needs it, so kernels without `nft_socket` lose nothing else.
 */
export function guardListener(
  fragment: FragmentBuilder,
  service: Pick<VirtualService, 'address' | 'protocol' | 'port'>,
  listener: Port,
): void {
  const number = protocolNumbers[service.protocol];
  fragment.sets.push(...sets);
  fragment.chains.push(...chains);
  fragment.element(listeners, [number, listener]);
  const key = [service.address, number, service.port, listener];
  fragment.element(setNames.accepted(familyOf(service.address)), key);
}

/**
 * The kernel keeps a connection attempt of a local process although the listener, or a pod in the host
 * network, no longer exists. Until the kernel deletes it, a repeated packet bypasses the hold rules and would
 * be refused.
 */
export function dropToListeners(
  fragment: FragmentBuilder,
  { address, protocol: name, port }: Pick<VirtualService, 'address' | 'protocol' | 'port'>,
): void {
  fragment.sets.push(...heldSets);
  fragment.chains.push(heldChain);
  fragment.element(setNames.held(familyOf(address)), [address, protocolNumbers[name], port]);
}

/** The kernel must support this rule. */
export const guardRule: Rule = rule(hasSocket, accept);

const sets: readonly SetDefinition[] = [
  { name: listeners, key: ['inet_proto', 'inet_service'] },
  ...families.map(
    (family): SetDefinition => ({
      name: setNames.accepted(family),
      key: [addressType(family), 'inet_proto', 'inet_service', 'inet_service'],
    }),
  ),
];

const heldSets = families.map(
  (family): SetDefinition => ({
    name: setNames.held(family),
    key: [addressType(family), 'inet_proto', 'inet_service'],
  }),
);

/** The connection was opened to a service in the set. nft requires a match on the protocol. */
function openedTo(
  set: (family: Family) => string,
  ...further: readonly Operand[]
): readonly (readonly Statement[])[] {
  return families.flatMap((family) =>
    Object.values(protocolNumbers).map((number) => {
      const key = [...originalTarget(family), ...further];
      return [equals(protocol, number), isFamily(family), isIn(key, set(family))];
    }),
  );
}

const ledHere = openedTo(setNames.accepted, destinationPort);

const chains: readonly Chain[] = [
  {
    name: chainNames.filterListeners,
    base: { type: 'filter', hook: 'input', priority: 0 },
    rules: [rule(isIn([protocol, destinationPort], listeners), goto(chainNames.toListener))],
  },
  {
    name: chainNames.toListener,
    rules: [
      rule(isUnderWay, accept),
      ...ledHere.map((conditions) => rule(...conditions, hasSocket, accept)),
      ...ledHere.map((conditions) => rule(...conditions, drop)),
      // Sent here by the previous rules.
      rule(isDestinationRewritten, drop),
      rule(goto(chainNames.refuse)),
    ],
  },
];

const heldChain: Chain = {
  name: chainNames.filterHeld,
  base: { type: 'filter', hook: 'input', priority: 0 },
  rules: [
    rule(isUnderWay, accept),
    ...openedTo(setNames.held).map((conditions) => rule(...conditions, drop)),
  ],
};
