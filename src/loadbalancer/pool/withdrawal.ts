import { isErrorCode } from '../../domain/error.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { defineResource, type Resource } from '../../kube/resource.ts';
import { leases } from '../../kube/resources.ts';
import type { Lease } from '../../kube/workload-objects.ts';
import type { Owner } from '../provider.ts';
import type { AnnouncerName } from './announcer.ts';

/** What can be seen of an announcement from outside of the announcer. `unknown`: nothing either way. */
export type Sighting = 'announced' | 'withdrawn' | 'unknown';

interface MetalLbStatus extends KubeObject {
  readonly status?: { readonly serviceName?: string; readonly serviceNamespace?: string };
}

const metalLbStatus = (plural: string, kind: string): Resource<MetalLbStatus> =>
  defineResource({ group: 'metallb.io', version: 'v1beta1', plural, kind, namespaced: true });
/** Its speakers write one for each Service and node that announces it, and remove it when they stop. */
const metalLbStatuses = [
  metalLbStatus('servicel2statuses', 'ServiceL2Status'),
  metalLbStatus('servicebgpstatuses', 'ServiceBGPStatus'),
];

/** Where Cilium keeps its leases unless it is installed elsewhere. */
const ciliumNamespace = 'kube-system';

/**
 * Looks whether an address is still announced, by what each announcer shows of itself. Only an
 * announcer that says so counts as withdrawn; silence never does.
 */
export class WithdrawalWatch {
  readonly #client: KubeClient;
  /** Leases that were seen held: one that is gone afterwards was given up. */
  readonly #held = new Set<string>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async look(announcer: AnnouncerName, owner: Owner, signal: AbortSignal): Promise<Sighting> {
    switch (announcer) {
      case 'metallb':
        return this.#lookAtMetalLb(owner, signal);
      case 'kube-vip':
        return this.#lookAtLease(owner.namespace, `kubevip-${owner.name}`, signal);
      case 'cilium':
        return this.#lookAtLease(
          ciliumNamespace,
          `cilium-l2announce-${owner.namespace}-${owner.name}`,
          signal,
        );
      case 'node':
        return 'withdrawn';
      // PureLB's annotations are for people to read, and behind a plain status stands who knows what.
      case 'purelb':
      case 'plain':
        return 'unknown';
    }
  }

  /** Both kinds of status must be served: an address may be announced by either. */
  async #lookAtMetalLb(owner: Owner, signal: AbortSignal): Promise<Sighting> {
    for (const resource of metalLbStatuses) {
      try {
        for await (const { status } of this.#client.list(resource, { signal })) {
          if (status?.serviceName !== owner.name) continue;
          if (status.serviceNamespace === owner.namespace) return 'announced';
        }
      } catch (error) {
        if (isErrorCode(error, 'not-found') || isErrorCode(error, 'forbidden')) return 'unknown';
        throw error;
      }
    }
    return 'withdrawn';
  }

  async #lookAtLease(namespace: string, name: string, signal: AbortSignal): Promise<Sighting> {
    const key = `${namespace}/${name}`;
    const lease = await this.#client.find(leases, { namespace, name }, { signal });
    if (lease === undefined) return this.#held.has(key) ? 'withdrawn' : 'unknown';
    if (isHeld(lease)) {
      this.#held.add(key);
      return 'announced';
    }
    return 'withdrawn';
  }
}

/** A lease that ran out says nothing good: its holder may be cut off and announcing still. */
function isHeld({ spec }: Lease): boolean {
  return (spec?.holderIdentity ?? '') !== '';
}
