import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { defineResource, type Resource } from '@causeway/kubernetes/objects/resource';
import { leases } from '@causeway/kubernetes/objects/resources';
import type { Lease } from '@causeway/kubernetes/objects/workload-objects';
import type { Owner } from '../services/provider.ts';
import type { AnnouncerName } from './announcer.ts';

/** What the cluster shows of an announcement. `unknown`: it shows neither. */
export type Sighting = 'announced' | 'withdrawn' | 'unknown';

interface MetalLbStatus extends KubeObject {
  readonly status?: { readonly serviceName?: string; readonly serviceNamespace?: string };
}

const metalLbStatus = (plural: string, kind: string): Resource<MetalLbStatus> =>
  defineResource({ group: 'metallb.io', version: 'v1beta1', plural, kind, namespaced: true });
/** MetalLB's speakers write one for each Service and announcing node, and remove it when they stop. */
export const metalLbStatuses = [
  metalLbStatus('servicel2statuses', 'ServiceL2Status'),
  metalLbStatus('servicebgpstatuses', 'ServiceBGPStatus'),
];

/** The holder of a lease and the start of an uninterrupted hold. After a break, it is another term. */
export interface Term {
  readonly holder: string;
  readonly since: string;
  readonly number: number;
}

/** Where Cilium keeps its leases by default. */
const ciliumNamespace = 'kube-system';

/**
 * Checks whether an address is still announced, by the objects of each announcer. An address counts as
 * withdrawn only if it was seen announced before: an announcer without such objects may announce in a way
 * that can't be seen.
 */
export class WithdrawalWatch {
  readonly #client: KubeClient;
  /** The UIDs of Services that were seen announced. */
  readonly #seen = new Set<string>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async check(announcer: AnnouncerName, owner: Owner, signal: AbortSignal): Promise<Sighting> {
    const isShown = await this.#isShown(announcer, owner, signal);
    if (isShown === undefined) return 'unknown';
    if (isShown) this.#seen.add(owner.uid);
    else if (!this.#seen.has(owner.uid)) return 'unknown';
    return isShown ? 'announced' : 'withdrawn';
  }

  /** The current lease term that announces the Service; undefined if there is none. */
  async term(
    announcer: AnnouncerName,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Term | undefined> {
    const where = leaseOf(announcer, owner);
    if (where === undefined) return undefined;
    const lease = await this.#client.find(leases, where, { signal });
    return lease === undefined ? undefined : termOf(lease);
  }

  /** The Service was seen announced by an earlier controller. */
  markSeen(uid: string): void {
    this.#seen.add(uid);
  }

  /** Drops the state of a Service. */
  drop(uid: string): void {
    this.#seen.delete(uid);
  }

  /** Whether the announcer's objects show an announcement; undefined if it has no such objects. */
  async #isShown(
    announcer: AnnouncerName,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    if (announcer === 'metallb') return this.#isInMetalLbStatus(owner, signal);
    // A node's own address never gets another owner. PureLB's annotations are for people only, and with a
    // plain status the announcer is unknown.
    if (leaseOf(announcer, owner) === undefined) return undefined;
    return (await this.term(announcer, owner, signal)) !== undefined;
  }

  /** Both kinds of status must be served: either may announce an address. */
  async #isInMetalLbStatus(owner: Owner, signal: AbortSignal): Promise<boolean | undefined> {
    for (const resource of metalLbStatuses) {
      try {
        for await (const { status } of this.#client.list(resource, { signal })) {
          if (status?.serviceName !== owner.name) continue;
          if (status.serviceNamespace === owner.namespace) return true;
        }
      } catch (error) {
        if (isErrorCode(error, 'not-found') || isErrorCode(error, 'forbidden')) return undefined;
        throw error;
      }
    }
    return false;
  }
}

function leaseOf(
  announcer: AnnouncerName,
  { namespace, name }: Owner,
): { readonly namespace: string; readonly name: string } | undefined {
  switch (announcer) {
    case 'kube-vip':
      return { namespace, name: `kubevip-${name}` };
    case 'cilium':
      return { namespace: ciliumNamespace, name: `cilium-l2announce-${namespace}-${name}` };
    default:
      return undefined;
  }
}

/**
 * Undefined after a release. An expired lease is not released: its holder may be cut off and still
 * announcing.
 */
function termOf({ spec }: Lease): Term | undefined {
  const { holderIdentity: holder = '', acquireTime = '', leaseTransitions = 0 } = spec ?? {};
  return holder === '' ? undefined : { holder, since: acquireTime, number: leaseTransitions };
}
