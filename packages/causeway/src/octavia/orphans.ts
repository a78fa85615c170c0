import { isErrorCode } from '@causeway/base/error/causeway-error';
import { isPending } from '@causeway/openstack/load-balancing/lock';
import type { Log } from '@causeway/base/observability/log';
import type { OrphanRegister } from '../services/orphan-register.ts';
import type { Orphan } from '../services/orphan.ts';
import type { Owner } from '../services/provider.ts';
import { balancersOf, klbOwner } from './klb-store.ts';
import type { Release } from './release.ts';
import type { OctaviaState } from './state.ts';

export interface OrphansOptions extends OctaviaState {
  readonly release: Pick<Release, 'hasReleased'>;
  readonly register: Pick<OrphanRegister, 'report' | 'deleted'>;
  readonly log: Log;
}

/** The objects that the KuryrLoadBalancers of this cluster use. */
interface Usage {
  /** The UIDs of the Services that have a KuryrLoadBalancer. */
  readonly owners: ReadonlySet<string>;
  /** The UIDs of those that a load balancer serves. */
  readonly served: ReadonlySet<string>;
  /** The IDs of load balancers and floating IPs that a KuryrLoadBalancer names. */
  readonly used: ReadonlySet<string>;
}

/** An object without an owner in this cluster. `isKnown`: the controller knows why nothing owns it. */
interface Unowned {
  readonly orphan: Orphan;
  readonly isKnown: boolean;
}

/**
 * Load balancers and floating IPs with a mark of this cluster that no Service uses. After two checks, the
 * controller deletes those whose Service it has released itself. It holds all others until an operator
 * confirms the deletion.
 */
export class Orphans {
  readonly #options: OrphansOptions;
  /** Objects without an owner in the last check. */
  #suspects = new Set<string>();
  #heldBalancers = 0;

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  /** The number of held load balancers without an owner, as of the last check. */
  get heldBalancers(): number {
    return this.#heldBalancers;
  }

  async check(signal: AbortSignal): Promise<void> {
    const { register } = this.#options;
    const usage = this.#usage();
    const unowned = [...this.#balancers(usage), ...this.#floatingIps(usage)];
    const held = unowned.filter(({ isKnown }) => !isKnown);
    this.#heldBalancers = held.filter(({ orphan }) => orphan.kind === 'load-balancer').length;
    const isSeenTwice = ({ orphan }: Unowned) => this.#suspects.has(orphan.id);
    const orphans = held.filter(isSeenTwice).map(({ orphan }) => orphan);
    const otherClusters = this.#otherClusters();
    const confirmed = await register.report({ orphans, otherClusters }, signal);
    for (const { orphan, isKnown } of unowned.filter(isSeenTwice)) {
      if (!isKnown && !confirmed.has(orphan.id)) continue;
      const isDeleted = await this.#delete(orphan, signal);
      if (isDeleted && !isKnown) register.deleted(orphan);
    }
    this.#suspects = new Set(unowned.map(({ orphan }) => orphan.id));
  }

  #usage(): Usage {
    const owners = new Set<string>();
    const used = new Set<string>();
    const served = new Set<string>();
    for (const klb of this.#options.klbs.all()) {
      const owner = klbOwner(klb);
      if (owner !== undefined) owners.add(owner.uid);
      if (owner !== undefined && klb.status?.loadbalancer !== undefined) served.add(owner.uid);
      for (const id of balancersOf(klb)) used.add(id);
      const { service_pub_ip_info: address } = klb.status ?? {};
      if (address !== undefined) used.add(address.ip_id);
    }
    return { owners, served, used };
  }

  #balancers({ owners, served, used }: Usage): Unowned[] {
    return [...this.#options.inventory.all()].flatMap(({ balancer }) => {
      const { id, vipAddress: address, provisioningStatus } = balancer;
      const owner = this.#options.identity.ownerOf(balancer);
      if (owner === undefined || used.has(id) || isPending(balancer)) return [];
      // Another load balancer serves the Service, and the deletion of this one failed.
      const isReplaced = served.has(owner.uid) && provisioningStatus === 'ERROR';
      if (owners.has(owner.uid) && !isReplaced) return [];
      const isKnown = isReplaced || this.#isReleased(owner, balancer);
      return [{ orphan: { ...this.#orphan('load-balancer', balancer, owner), address }, isKnown }];
    });
  }

  #floatingIps({ owners, used }: Usage): Unowned[] {
    return [...this.#options.floating.all()].flatMap((floating) => {
      const owner = this.#options.identity.ownerOf(floating);
      if (owner === undefined || used.has(floating.id) || owners.has(owner.uid)) return [];
      const { address } = floating;
      const isKnown = this.#isReleased(owner, floating);
      return [{ orphan: { ...this.#orphan('floating-ip', floating, owner), address }, isKnown }];
    });
  }

  #isReleased(owner: Owner, object: { readonly description: string }): boolean {
    const { identity, release } = this.#options;
    return identity.standing(object) === 'own' && release.hasReleased(owner);
  }

  #orphan(
    kind: Orphan['kind'],
    object: { readonly id: string; readonly description: string },
    { namespace, name }: Owner,
  ): Orphan {
    const mark = this.#options.identity.standing(object) === 'own' ? 'own' : 'old';
    return { kind, id: object.id, service: `${namespace}/${name}`, mark };
  }

  #otherClusters(): string[] {
    const { inventory, floating, identity } = this.#options;
    const marked = [...[...inventory.all()].map(({ balancer }) => balancer), ...floating.all()];
    return [...new Set(marked.flatMap((object) => identity.otherClusterOf(object) ?? []))];
  }

  async #delete({ kind, id, service }: Orphan, signal: AbortSignal): Promise<boolean> {
    const { balancing, inventory, floating, log } = this.#options;
    log.warn({ kind, id, service }, 'deleting an object that no Service uses');
    try {
      if (kind === 'load-balancer') {
        await balancing.deleteLoadBalancer(id, { signal, cascade: true });
        inventory.drop(id);
      } else await floating.delete(id, { signal });
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isErrorCode(error, 'not-found')) return true;
      log.warn({ error, kind, id }, 'could not delete the object');
      return false;
    }
  }
}
