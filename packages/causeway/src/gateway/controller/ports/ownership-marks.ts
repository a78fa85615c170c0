import type { FloatingIp, Port } from '@causeway/openstack/neutron/resources';
import type { ClusterIdentity } from '../../../services/cluster-identity.ts';
import { isInherited, legacyTag } from './legacy-marks.ts';

/** The mark of any Causeway on a floating IP. The Octavia provider has its own marks. */
const clusterMark =
  /^(?:(?:Managed|Kept) by Causeway for the cluster |causeway\.dev\/cluster=|Causeway, (?:kept for the )?cluster )([^ ,:]+)/;

const uidTagPrefix = 'causeway.dev/uid=';

/**
 * The mark on an object:
 *
 * - `own`: it has the UID of this cluster;
 * - `old`: it has the `clusterId` only, as Causeway 0.1.0 wrote it;
 * - `same-id`: it has this `clusterId` and the UID of another cluster;
 * - `none`: it has none of these.
 */
type Standing = 'own' | 'old' | 'same-id' | 'none';

type Marked = Pick<Port | FloatingIp, 'description' | 'tags'>;

/**
 * The ownership marks on Neutron ports and floating IPs. Neutron accepts no tags at creation, so the
 * description has the mark from the start. Causeway 0.1.0 also reads these marks, so a rollback keeps
 * everything.
 */
export class OwnershipMarks {
  readonly #cluster: ClusterIdentity;
  readonly #keepWayBack: boolean;

  constructor(cluster: ClusterIdentity, keepWayBack: boolean) {
    this.#cluster = cluster;
    this.#keepWayBack = keepWayBack;
  }

  name(marker: string): string {
    return `causeway-${this.#cluster.id}-${marker}`;
  }

  /** The marker in a port's name; the ID for a port that another tool created. */
  entryOf({ id, name }: Pick<Port, 'id' | 'name'>): string {
    const start = this.name('');
    return name.startsWith(start) ? name.slice(start.length) : id;
  }

  get tags(): string[] {
    return [
      'causeway.dev/managed',
      this.#clusterTag,
      ...(this.#uid === undefined ? [] : [`${uidTagPrefix}${this.#uid}`]),
      ...(this.#keepWayBack ? [legacyTag] : []),
    ];
  }

  get portDescription(): string {
    return `${this.#managed}${this.#suffix}`;
  }

  floatingDescription(portId: string): string {
    return `${this.#managed}, port ${portId}${this.#suffix}`;
  }

  get keptDescription(): string {
    return `${this.#kept}${this.#suffix}`;
  }

  /** The port that a floating IP was created for. */
  portOf({ description }: FloatingIp): string {
    const start = `${this.#managed}, port `;
    return description.startsWith(start)
      ? (description.slice(start.length).split(',')[0] ?? '')
      : '';
  }

  standing({ description, tags }: Marked): Standing {
    const uids = [uidIn(description), ...tags.map(uidInTag)].filter((uid) => uid !== undefined);
    const hasId =
      tags.includes(this.#clusterTag) ||
      [this.#managed, this.#kept].some((mark) => isMark(description, mark));
    if (!hasId) return 'none';
    if (this.#uid === undefined || uids.includes(this.#uid)) return 'own';
    return uids.length === 0 ? 'old' : 'same-id';
  }

  /** The UID of another cluster that marks its objects with this `clusterId`. */
  otherClusterOf(object: Marked): string | undefined {
    if (this.standing(object) !== 'same-id') return undefined;
    return uidIn(object.description) ?? object.tags.map(uidInTag).find((uid) => uid !== undefined);
  }

  /** Whether a port has all its marks. */
  isComplete({ description, tags }: Port): boolean {
    const wanted = this.tags.filter((tag) => tag !== 'causeway.dev/managed');
    if (!wanted.every((tag) => tags.includes(tag))) return false;
    if (this.#keepWayBack) return true;
    return description === this.portDescription && !tags.includes(legacyTag);
  }

  isKept(floating: FloatingIp): boolean {
    return isMark(floating.description, this.#kept) && this.isOurs(floating);
  }

  /** A floating IP on a port of this cluster belongs to the cluster, even if ch-k8s-lbaas created it. */
  isOurFloating(floating: FloatingIp): boolean {
    return isInherited(floating) || this.isMadeByUs(floating);
  }

  /**
   * Checked by the description, which is present from the start, and by the tag if the description was
   * edited.
   */
  isMadeByUs(floating: FloatingIp): boolean {
    const isDescribed = floating.description.startsWith(`${this.#managed}, port `);
    return (isDescribed || floating.tags.includes(this.#clusterTag)) && this.isOurs(floating);
  }

  /**
   * Another owner of a floating IP, by its marks. A floating IP of ch-k8s-lbaas names no cluster and may
   * belong to another one. Without marks it belongs to the project, and Services may request it.
   */
  otherOwnerOf(floating: FloatingIp): string | undefined {
    if (this.isMadeByUs(floating) || this.isKept(floating)) return undefined;
    const uid = this.otherClusterOf(floating);
    if (uid !== undefined) return `another cluster with the clusterId ${this.#cluster.id} (${uid})`;
    for (const mark of [floating.description, ...floating.tags]) {
      const [, cluster] = clusterMark.exec(mark) ?? [];
      if (cluster !== undefined) return `the cluster ${cluster}`;
    }
    return isInherited(floating) ? 'ch-k8s-lbaas' : undefined;
  }

  /** Whether no mark names another cluster. */
  isOurs(object: Marked): boolean {
    return ['own', 'old'].includes(this.standing(object));
  }

  /** Undefined if the ID is the UID already. */
  get #uid(): string | undefined {
    return this.#cluster.id === this.#cluster.uid ? undefined : this.#cluster.uid;
  }

  get #suffix(): string {
    return this.#uid === undefined ? '' : `, UID ${this.#uid}`;
  }

  get #clusterTag(): string {
    return `causeway.dev/cluster=${this.#cluster.id}`;
  }

  get #managed(): string {
    return `Managed by Causeway for the cluster ${this.#cluster.id}`;
  }

  get #kept(): string {
    return `Kept by Causeway for the cluster ${this.#cluster.id}`;
  }
}

function isMark(description: string, mark: string): boolean {
  return description === mark || description.startsWith(`${mark},`);
}

function uidIn(description: string): string | undefined {
  return /, UID ([^ ,]+)$/.exec(description)?.[1];
}

function uidInTag(tag: string): string | undefined {
  return tag.startsWith(uidTagPrefix) ? tag.slice(uidTagPrefix.length) : undefined;
}
