import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { defineResource, type Resource } from '@causeway/kubernetes/objects/resource';
import { leases } from '@causeway/kubernetes/objects/resources';
import type { Lease } from '@causeway/kubernetes/objects/workload-objects';
import type { Owner } from '../services/provider.ts';
import type { AnnouncerName } from './announcer.ts';

/** What can be seen of an announcement from outside of the announcer. `unknown`: nothing either way. */
export type Sighting = 'announced' | 'withdrawn' | 'unknown';

interface MetalLbStatus extends KubeObject {
  readonly status?: { readonly serviceName?: string; readonly serviceNamespace?: string };
}

const metalLbStatus = (plural: string, kind: string): Resource<MetalLbStatus> =>
  defineResource({ group: 'metallb.io', version: 'v1beta1', plural, kind, namespaced: true });
/** Its speakers write one for each Service and node that announces it, and remove it when they stop. */
export const metalLbStatuses = [
  metalLbStatus('servicel2statuses', 'ServiceL2Status'),
  metalLbStatus('servicebgpstatuses', 'ServiceBGPStatus'),
];

/** Who holds a lease, and since when: without a break, or it is another one. */
export interface Term {
  readonly holder: string;
  readonly since: string;
  readonly number: number;
}

/** Where Cilium keeps its leases unless it is installed elsewhere. */
const ciliumNamespace = 'kube-system';

/**
 * Looks whether an address is still announced, by what each announcer shows of itself. Withdrawn is
 * only what was seen announced before: an announcer that never showed anything may announce in a way
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

  /** By which term of its lease the Service is announced now; undefined where there is none. */
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

  /** It was seen announced, by a controller before this one. */
  remember(uid: string): void {
    this.#seen.add(uid);
  }

  /** Nothing more is asked about it. */
  forget(uid: string): void {
    this.#seen.delete(uid);
  }

  /** Whether the announcer shows that it announces it; undefined if it shows nothing of the kind. */
  async #isShown(
    announcer: AnnouncerName,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    if (announcer === 'metallb') return this.#isInMetalLbStatus(owner, signal);
    // A node's own address is nobody else's ever; PureLB's annotations are for people to read, and
    // behind a plain status stands who knows what.
    if (leaseOf(announcer, owner) === undefined) return undefined;
    return (await this.term(announcer, owner, signal)) !== undefined;
  }

  /** Both kinds of status must be served: an address may be announced by either. */
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

/** Undefined once it is given up. One that ran out is not: its holder may be cut off and announcing still. */
function termOf({ spec }: Lease): Term | undefined {
  const { holderIdentity: holder = '', acquireTime = '', leaseTransitions = 0 } = spec ?? {};
  return holder === '' ? undefined : { holder, since: acquireTime, number: leaseTransitions };
}
