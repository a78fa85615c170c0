import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '@causeway/openstack/call';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type {
  Listener,
  LoadBalancer,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';

export type Readable = Pick<
  LoadBalancing,
  'loadBalancers' | 'loadBalancer' | 'listeners' | 'listener' | 'pools' | 'pool' | 'members'
>;

interface Owned {
  readonly id: string;
  readonly projectId: string;
}

/**
 * One reading of a project. Objects that are named but not listed are requested individually: in LBaaS v2 a
 * listener, pool or member may belong to another project than its load balancer, and lists omit it.
 */
export class ProjectReading {
  readonly #balancing: Readable;
  readonly #projectId: string;
  readonly #call: CallOptions;
  readonly #isLast: boolean;
  /** Load balancers that may not be fully visible, with the missing part. */
  readonly unclear = new Map<string, string>();

  constructor(balancing: Readable, projectId: string, call: CallOptions, isLast: boolean) {
    this.#balancing = balancing;
    this.#projectId = projectId;
    this.#call = call;
    this.#isLast = isLast;
  }

  /**
   * Whether the list must contain the object. An administrator's token also returns objects of other
   * projects.
   */
  readonly isIts = ({ projectId }: { readonly projectId: string }): boolean =>
    projectId === this.#projectId;

  /** All listeners of these load balancers, including those of other projects. */
  async listenersOf(
    loadBalancers: readonly LoadBalancer[],
    listed: readonly Listener[],
  ): Promise<Listener[]> {
    await this.#checkLoadBalancers(loadBalancers, listed);
    const found = [...listed];
    for (const { id, listenerIds } of loadBalancers) {
      for (const missing of missingFrom(listed, listenerIds)) {
        const what = `load balancer ${id} has listener ${missing}, which is not in the list of listeners`;
        const get = () => this.#balancing.listener(missing, this.#call);
        const other = await this.#find(get, what, [id]);
        if (other !== undefined) found.push(other);
      }
    }
    return found;
  }

  /** All pools that these listeners use, including those of other projects. */
  async poolsOf(listeners: readonly Listener[], listed: readonly Pool[]): Promise<Pool[]> {
    const found = new Map(listed.map((pool) => [pool.id, pool]));
    for (const { id, defaultPoolId, loadBalancerId = '' } of listeners) {
      if (defaultPoolId === undefined || found.has(defaultPoolId)) continue;
      const what = `listener ${id} sends to pool ${defaultPoolId}, which is not in the list of pools`;
      const get = () => this.#balancing.pool(defaultPoolId, this.#call);
      const other = await this.#find(get, what, [loadBalancerId]);
      if (other !== undefined) found.set(other.id, other);
    }
    return [...found.values()];
  }

  /**
   * Members can't be requested individually: a pool with missing members makes its load balancers unclear.
   */
  checkMembers(pool: Pool, listed: readonly Member[], loadBalancerIds: readonly string[]): void {
    const [missing] = missingFrom(listed, pool.memberIds);
    if (missing === undefined) return;
    const what = `pool ${pool.id} has member ${missing}, which is not in the list of members`;
    this.#doubt(what, loadBalancerIds);
  }

  /** A listener of the project has a load balancer; if it is not listed, it may belong to another project. */
  async #checkLoadBalancers(
    loadBalancers: readonly LoadBalancer[],
    listeners: readonly Listener[],
  ): Promise<void> {
    for (const { id, loadBalancerId } of listeners) {
      if (loadBalancerId === undefined) continue;
      if (loadBalancers.some((one) => one.id === loadBalancerId)) continue;
      const what = `listener ${id} is of load balancer ${loadBalancerId}, which is not in the list of load balancers`;
      await this.#find(() => this.#balancing.loadBalancer(loadBalancerId, this.#call), what, []);
    }
  }

  /** An existing object belongs to another project, or the lists contradict each other. */
  async #find<T extends Owned>(
    get: () => Promise<T>,
    what: string,
    loadBalancerIds: readonly string[],
  ): Promise<T | undefined> {
    try {
      const found = await get();
      if (this.isIts(found)) throw contradiction(what);
      return found;
    } catch (error) {
      if (!isErrorCode(error, 'not-found') && !isErrorCode(error, 'forbidden')) throw error;
      this.#doubt(what, loadBalancerIds);
      return undefined;
    }
  }

  /** It may have been deleted a moment ago: the lists of a second reading may agree on it. */
  #doubt(what: string, loadBalancerIds: readonly string[]): void {
    if (!this.#isLast && loadBalancerIds.length > 0) throw contradiction(what);
    for (const id of loadBalancerIds) this.unclear.set(id, what);
  }
}

/** Objects that are named but not listed. */
export function missingFrom(
  listed: readonly { readonly id: string }[],
  named: readonly string[],
): string[] {
  if (named.length === 0) return [];
  const known = new Set(listed.map(({ id }) => id));
  return named.filter((id) => !known.has(id));
}

function contradiction(message: string): CausewayError {
  return new CausewayError('conflict', message, {
    hint: 'The load balancer is being changed, or the user of discovery does not see all of it.',
  });
}
