import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '../call.ts';
import { Neutron } from '../neutron/neutron.ts';
import type { Session } from '../session.ts';
import type { LoadBalancing } from './contract.ts';
import { LbaasV2 } from './lbaas-v2.ts';
import { Octavia, parseOctaviaVersions } from './octavia.ts';

export interface OpenOptions {
  /**
   * A configuration that gives Neutron's address and not Octavia's selects LBaaS v2, if that Neutron has it.
   */
  readonly givenNeutronWins?: boolean;
}

/** The cloud's load balancing service: Octavia if the catalog has it, else Neutron's LBaaS v2. */
export async function openLoadBalancing(
  session: Session,
  call: CallOptions,
  { givenNeutronWins = false }: OpenOptions = {},
): Promise<LoadBalancing> {
  const isNeutronGiven = session.isGiven('network') && !session.isGiven('load-balancer');
  if (givenNeutronWins && isNeutronGiven && (await hasLbaasV2(session, call))) {
    return new LbaasV2(session);
  }
  if (await session.offers('load-balancer', call)) {
    const client = session.service('load-balancer');
    const minor = await session.memo.get('octavia-version', () =>
      client.versions(parseOctaviaVersions, call),
    );
    return new Octavia(session, minor);
  }
  if (await hasLbaasV2(session, call)) return new LbaasV2(session);
  throw new CausewayError('unsupported', 'the cloud has no load balancing service', {
    hint: 'Neither Octavia in the catalog nor the extension lbaasv2 in Neutron; check the region and the interface.',
  });
}

async function hasLbaasV2(session: Session, call: CallOptions): Promise<boolean> {
  const extensions = await session.memo.get('neutron-extensions', () =>
    new Neutron(session).extensions(call),
  );
  return extensions.some(({ alias }) => alias === 'lbaasv2');
}
