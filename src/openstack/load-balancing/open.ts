import { CausewayError } from '../../domain/error.ts';
import type { CallOptions } from '../call.ts';
import { Neutron } from '../neutron/neutron.ts';
import type { Session } from '../session.ts';
import type { LoadBalancing } from './contract.ts';
import { LbaasV2 } from './lbaas-v2.ts';
import { Octavia, parseOctaviaVersions } from './octavia.ts';

/** The cloud's load balancing service: Octavia where the catalog has it, else Neutron's LBaaS v2. */
export async function openLoadBalancing(
  session: Session,
  call: CallOptions,
): Promise<LoadBalancing> {
  if (await session.offers('load-balancer', call)) {
    const client = session.service('load-balancer');
    const minor = await session.memo.get('octavia-version', () =>
      client.versions(parseOctaviaVersions, call),
    );
    return new Octavia(session, minor);
  }
  const extensions = await session.memo.get('neutron-extensions', () =>
    new Neutron(session).extensions(call),
  );
  if (extensions.some(({ alias }) => alias === 'lbaasv2')) {
    return new LbaasV2(session);
  }
  throw new CausewayError('unsupported', 'the cloud has no load balancing service', {
    hint: 'Neither Octavia in the catalog nor the extension lbaasv2 in Neutron; check region and interface.',
  });
}
