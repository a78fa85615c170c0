import type { LoadBalancer } from '../../openstack/load-balancing/resources.ts';
import type { Owner } from '../provider.ts';

/** What recognises a cluster's objects in a project that it shares with others. */
export class Identity {
  readonly #clusterId: string;

  constructor(clusterId: string) {
    this.#clusterId = clusterId;
  }

  /** On everything of this cluster, where the service has tags. */
  get tag(): string {
    return `causeway.dev/cluster=${this.#clusterId}`;
  }

  /** On load balancers and floating IPs: unique, because a Service's UID is. */
  description({ namespace, name, uid }: Owner): string {
    return `${this.#prefix}Service ${namespace}/${name} ${uid}`;
  }

  /** On a floating IP that outlives its Service. */
  keptDescription({ namespace, name }: Owner): string {
    return `${prefix}kept for the cluster ${this.#clusterId}: Service ${namespace}/${name}`;
  }

  /** On security group rules. */
  get ruleDescription(): string {
    return `${this.#prefix}load balancers`;
  }

  isOurs({ description }: { readonly description: string }): boolean {
    return description.startsWith(this.#prefix);
  }

  isOfOtherCluster({ description }: { readonly description: string }): boolean {
    return description.startsWith(prefix) && !this.isOurs({ description });
  }

  /**
   * Whether a load balancer that a status names was made for this Service: by its mark, or by Kuryr, who
   * had nothing but the name. A Service that was made anew has another UID, and no other has its name.
   */
  isMadeFor(
    { namespace, name }: Owner,
    balancer: Pick<LoadBalancer, 'description' | 'name'>,
    wasGiven: boolean,
  ): boolean {
    if (balancer.description.startsWith(prefix)) {
      const marked = this.ownerOf(balancer);
      return marked?.namespace === namespace && marked.name === name;
    }
    return !wasGiven && balancer.name === `${namespace}/${name}`;
  }

  /** Whether it was made for another Service, of this cluster or another; what is only kept is anybody's. */
  isAnothers({ description }: { readonly description: string }, owner: Owner): boolean {
    return description.startsWith(`${prefix}cluster `) && description !== this.description(owner);
  }

  /** The owner that a description of ours names. */
  ownerOf({ description }: { readonly description: string }): Owner | undefined {
    if (!this.isOurs({ description })) return undefined;
    const match = /^Service ([^/ ]+)\/([^ ]+) ([^ ]+)$/.exec(
      description.slice(this.#prefix.length),
    );
    const [, namespace, name, uid] = match ?? [];
    if (namespace === undefined || name === undefined || uid === undefined) return undefined;
    return { namespace, name, uid };
  }

  get #prefix(): string {
    return `${prefix}cluster ${this.#clusterId}: `;
  }
}

const prefix = 'Causeway, ';

/** Whether this load balancer is the one that a Service of Kuryr's had: no Causeway's, and at its address. */
export function isKuryrs(
  balancer: LoadBalancer,
  wanted: { readonly address?: string; readonly subnetId?: string; readonly provider?: string },
): boolean {
  const { description, vipAddress, vipSubnetId, provider } = balancer;
  if (description.startsWith(prefix)) return false;
  // Without an address of its own the name is all there is, and names are not unique.
  if (wanted.address === undefined || vipAddress !== wanted.address) return false;
  if (wanted.subnetId !== undefined && vipSubnetId !== wanted.subnetId) return false;
  return sameProvider(wanted.provider, provider);
}

/** `octavia` is the old name of `amphora`, which is what a cloud has where nothing is said. */
export function sameProvider(wanted: string | undefined, present: string | undefined): boolean {
  if (wanted === undefined || present === undefined) return true;
  const plain = (name: string) => (name === 'octavia' ? 'amphora' : name);
  return plain(wanted) === plain(present);
}
