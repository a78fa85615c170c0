import { familyOf } from '@causeway/base/address/address';
import type { Rule, Statement } from '../model/expression.ts';
import type { FragmentBuilder } from './fragment.ts';
import { chainNames, droppedAdverts, setNames, vrrpPeersSet } from '../model/names.ts';
import {
  accept,
  drop,
  equals,
  families,
  goto,
  isFamily,
  isIn,
  protocol,
  source,
  ttl,
  vrrp,
  vrrpRouterId,
} from '../model/operands.ts';
import type { Chain } from '../model/ruleset.ts';
import type { VrrpFilter } from './virtual-service.ts';

/** A router decrements the TTL, so a packet with this TTL was sent on this link. */
const linkTtl = 255;
/** How long the source of a dropped advert is kept. */
const keptSeconds = 60;

const rule = (...statements: Statement[]): Rule => ({ statements });
const isVrrp = equals(protocol, vrrp);

/**
 * Rules for the input chain. Each peer's adverts are counted: adverts that continue while this machine is
 * master indicate a second master.
 */
export function vrrpRules(filter: VrrpFilter | undefined): Rule[] {
  if (filter === undefined) return [];
  return [
    ...filter.links.flatMap(({ interface: name }, link) =>
      families.map((family) =>
        rule(
          isVrrp,
          isFamily(family),
          { kind: 'input-interface', name, isPrefix: false },
          equals(ttl(family), linkTtl),
          isIn([source(family)], vrrpPeersSet(link, family)),
          accept,
        ),
      ),
    ),
    ...filter.routerIds.map((id) =>
      rule(isVrrp, equals(vrrpRouterId, id), goto(chainNames.forgedAdverts)),
    ),
    rule(isVrrp, drop),
  ];
}

/** The sets and the chain that `vrrpRules` needs. */
export function addVrrpFilter(fragment: FragmentBuilder, filter: VrrpFilter | undefined): void {
  if (filter === undefined) return;
  for (const family of families) {
    const address = family === 4 ? 'ipv4_addr' : 'ipv6_addr';
    for (const [link, { peers }] of filter.links.entries()) {
      const name = vrrpPeersSet(link, family);
      fragment.sets.push({ name, key: [address], counter: true });
      for (const peer of new Set(peers)) {
        if (familyOf(peer) === family) fragment.element(name, [peer]);
      }
    }
    fragment.sets.push({ name: setNames.vrrpStrangers(family), key: [address], dynamic: true });
  }
  fragment.sets.push({ name: droppedAdverts, key: ['inet_proto'], counter: true });
  fragment.element(droppedAdverts, [vrrp]);
  fragment.chains.push(forgedAdverts);
}

/** Counts the advert, records its source and drops it. A full set of sources does not stop the drop. */
const forgedAdverts: Chain = {
  name: chainNames.forgedAdverts,
  rules: [
    rule(isIn([protocol], droppedAdverts)),
    ...families.map((family) =>
      rule(isFamily(family), {
        kind: 'remember',
        key: [source(family)],
        set: setNames.vrrpStrangers(family),
        timeoutSeconds: keptSeconds,
      }),
    ),
    rule(drop),
  ],
};
