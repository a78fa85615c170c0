import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import type { ClusterIdentity } from '../services/cluster-identity.ts';
import type { Owner } from '../services/provider.ts';

/**
 * The owner of a mark:
 *
 * - `own`: it has the UID of this cluster;
 * - `old`: it has the `clusterId` only, as Causeway 0.1.0 wrote it. It says nothing about which of two
 *   clusters with the same `clusterId` owns the object;
 * - `same-id`: it has this cluster's `clusterId` and the UID of another cluster;
 * - `other`: it is a mark of another cluster, or of a floating IP that outlives its Service;
 * - `none`: Causeway did not write it.
 */
export type Standing = 'own' | 'old' | 'same-id' | 'other' | 'none';

/** The limit of Octavia and Neutron. The UID of the cluster is last, so its tail is cut. */
const longestDescription = 255;
const shortestUid = 23;

/** Writes and reads the ownership marks of a cluster in a project that several clusters share. */
export class Identity {
  readonly #cluster: ClusterIdentity;

  constructor(cluster: ClusterIdentity) {
    this.#cluster = cluster;
  }

  /** The tag of all objects with this `clusterId`, where the service has tags. One list finds all of them. */
  get tag(): string {
    return `causeway.dev/cluster=${this.#cluster.id}`;
  }

  /**
   * The mark of load balancers and floating IPs. It is unique, because the UIDs of Service and cluster are.
   */
  description(owner: Owner): string {
    return `${this.#oldDescription(owner)}${this.#suffix}`.slice(0, longestDescription);
  }

  /** The mark of a floating IP that outlives its Service. */
  keptDescription({ namespace, name }: Owner): string {
    return `${prefix}kept for the cluster ${this.#cluster.id}: Service ${namespace}/${name}`;
  }

  /** The mark of security group rules. */
  get ruleDescription(): string {
    return `${this.#prefix}load balancers${this.#suffix === '' ? '' : ` ${this.#suffix}`}`;
  }

  standing({ description }: { readonly description: string }): Standing {
    if (!description.startsWith(this.#prefix)) {
      return description.startsWith(prefix) ? 'other' : 'none';
    }
    // Without the setting, the ID in the prefix is the UID.
    if (this.#suffix === '') return 'own';
    const found = clusterUidIn(description);
    if (found === undefined) return 'old';
    const { uid } = this.#cluster;
    const isOwn = found === uid || (found.length >= shortestUid && uid.startsWith(found));
    return isOwn ? 'own' : 'same-id';
  }

  /** The UID of another cluster that marks its objects with the same `clusterId`. */
  otherClusterOf(object: { readonly description: string }): string | undefined {
    return this.standing(object) === 'same-id' ? clusterUidIn(object.description) : undefined;
  }

  isOurs(object: { readonly description: string }): boolean {
    return ['own', 'old'].includes(this.standing(object));
  }

  isOfOtherCluster(object: { readonly description: string }): boolean {
    return ['same-id', 'other'].includes(this.standing(object));
  }

  /** Whether the mark names this Service, with the UID of this cluster or as Causeway 0.1.0 wrote it. */
  isMarkedFor(owner: Owner, { description }: { readonly description: string }): boolean {
    return description === this.description(owner) || description === this.#oldDescription(owner);
  }

  /**
   * Whether the mark has the UID of this cluster and names a Service of the same name that had another UID:
   * the Service was created again, for example after etcd was restored from a backup without it.
   */
  isFormerOf(owner: Owner, object: { readonly description: string }): boolean {
    const former = this.standing(object) === 'own' ? this.ownerOf(object) : undefined;
    return (
      former !== undefined &&
      former.namespace === owner.namespace &&
      former.name === owner.name &&
      former.uid !== owner.uid
    );
  }

  /**
   * Whether a load balancer in a status was created for this Service: by its mark, or by Kuryr's name. A
   * recreated Service has another UID, and no other Service has its name.
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

  /**
   * Whether it was created for another Service of any cluster. A kept floating IP is free for every Service.
   */
  isAnothers({ description }: { readonly description: string }, owner: Owner): boolean {
    return description.startsWith(`${prefix}cluster `) && !this.isMarkedFor(owner, { description });
  }

  /** The owner that a mark of this cluster names. */
  ownerOf(object: { readonly description: string }): Owner | undefined {
    if (!this.isOurs(object)) return undefined;
    const match = /^Service ([^/ ]+)\/([^ ]+) ([^ @]+)(?:@[^ ]+)?$/.exec(
      object.description.slice(this.#prefix.length),
    );
    const [, namespace, name, uid] = match ?? [];
    if (namespace === undefined || name === undefined || uid === undefined) return undefined;
    return { namespace, name, uid };
  }

  /** As Causeway 0.1.0 wrote it. That version also reads the new mark, so a rollback keeps everything. */
  #oldDescription({ namespace, name, uid }: Owner): string {
    return `${this.#prefix}Service ${namespace}/${name} ${uid}`;
  }

  get #prefix(): string {
    return `${prefix}cluster ${this.#cluster.id}: `;
  }

  get #suffix(): string {
    const { id, uid } = this.#cluster;
    return id === uid ? '' : `@${uid}`;
  }
}

const prefix = 'Causeway, ';

function clusterUidIn(description: string): string | undefined {
  return /@([^ @]+)$/.exec(description)?.[1];
}

/**
 * Whether this load balancer belonged to a Service of Kuryr: it has no mark of Causeway, and has the
 * Service's address.
 */
export function isKuryrs(
  balancer: LoadBalancer,
  wanted: { readonly address?: string; readonly subnetId?: string; readonly provider?: string },
): boolean {
  const { description, vipAddress, vipSubnetId, provider } = balancer;
  if (description.startsWith(prefix)) return false;
  // Without an address only the name could match, and names are not unique.
  if (wanted.address === undefined || vipAddress !== wanted.address) return false;
  if (wanted.subnetId !== undefined && vipSubnetId !== wanted.subnetId) return false;
  return sameProvider(wanted.provider, provider);
}

/** `octavia` is the old name of `amphora`, which is the default of a cloud. */
export function sameProvider(wanted: string | undefined, present: string | undefined): boolean {
  if (wanted === undefined || present === undefined) return true;
  const plain = (name: string) => (name === 'octavia' ? 'amphora' : name);
  return plain(wanted) === plain(present);
}
