import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { Member } from '@causeway/openstack/load-balancing/resources';
import { tryParseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { BalancerKeeper } from './balancer-keeper.ts';
import { balancersOf } from './klb-store.ts';
import type { Orphans } from './orphans.ts';
import type { PodAccess } from './pod-access.ts';
import type { ReconcileReasons } from './reconcile-reasons.ts';
import type { OctaviaState } from './state.ts';
import type { KlbStatusMember, KuryrLoadBalancer } from './kuryr-load-balancer.ts';

export interface DriftOptions extends OctaviaState {
  readonly reasons: ReconcileReasons;
  readonly keeper: BalancerKeeper;
  readonly orphans: Orphans;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  /** Number of pools whose members one drift check reads, in rotation. */
  readonly memberSample: number;
}

/** Compares the cached state with Octavia: all load balancers by a few lists, members by a sample. */
export class Drift {
  readonly #options: DriftOptions;
  #nextPool = 0;

  constructor(options: DriftOptions) {
    this.#options = options;
  }

  /** The first read covers the whole project, because Kuryr's load balancers don't have Causeway's tag. */
  async begin(signal: AbortSignal): Promise<void> {
    const { inventory, floating, klbs, access } = this.#options;
    await inventory.list([], { signal });
    await floating.list({ signal });
    await access?.list({ signal });
    for (const klb of klbs.all()) {
      await this.#alone(`the status of ${keyOf(klb)}`, signal, () => this.#trustMembers(klb));
    }
  }

  /** Checks at intervals until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, everyMs, reasons } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, everyMs, signal);
      try {
        const keys = await this.#check(signal);
        for (const key of keys) reasons.add(key, 'the cloud differs from the desired state');
      } catch (error) {
        const known = CausewayError.from(error);
        if (signal.aborted) throw known;
        log.warn({ error: known }, 'the drift check failed');
      }
    }
  }

  /** Returns the Services to reconcile. */
  async #check(signal: AbortSignal): Promise<Set<string>> {
    const { inventory, floating, identity, klbs, access, orphans } = this.#options;
    const keys = new Set<string>();
    const changed = new Set<string>();
    const moved = new Set<string>();
    // A difference appears in one list only, so it is kept whatever fails later.
    const hasBalancers = await this.#alone('load balancers', signal, async () => {
      for (const { id } of await inventory.list([identity.tag], { signal })) changed.add(id);
    });
    const hasAddresses = await this.#alone('floating IPs', signal, async () => {
      for (const id of await floating.list({ signal })) moved.add(id);
    });
    await this.#checkShared(changed, signal);
    await this.#sampleMembers(changed, signal);
    for (const klb of klbs.all()) {
      const { service_pub_ip_info: address } = klb.status ?? {};
      // Also for a load balancer that the Service only requests: the obstacle there may be removed.
      const isChanged = balancersOf(klb).some((id) => changed.has(id));
      const isMoved = address !== undefined && moved.has(address.ip_id);
      if (isChanged || isMoved) keys.add(keyOf(klb));
    }
    // Deletions must not use an old read.
    if (hasBalancers && hasAddresses) await orphans.check(signal);
    if (access !== undefined) {
      await this.#alone('security group rules', signal, async () => {
        for (const key of await this.#checkRules(access, signal)) keys.add(key);
      });
    }
    return keys;
  }

  /** A failing step must not discard the results of the others. Returns whether the step succeeded. */
  async #alone(
    what: string,
    signal: AbortSignal,
    step: () => Promise<void> | void,
  ): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      // The next list shows objects that were deleted in the meantime.
      if (!isErrorCode(error, 'not-found'))
        this.#options.log.warn({ error, what }, 'a part of the drift check failed');
      return false;
    }
  }

  /** Removes unneeded rules. Returns the Services with rules that another program deleted. */
  async #checkRules(access: PodAccess, signal: AbortSignal): Promise<string[]> {
    const { klbs, keeper, orphans } = this.#options;
    await access.list({ signal });
    const all = [...klbs.all()];
    // A held load balancer still serves, and the rules that it needs are unknown.
    if (orphans.heldBalancers === 0) {
      await access.close(
        all.flatMap((klb) => keeper.reachOf(klb)),
        { signal },
      );
    }
    const closed: string[] = [];
    for (const klb of all) {
      if (klb.status?.loadbalancer === undefined) continue;
      for (const reach of keeper.reachOf(klb)) {
        if (await access.isClosedFor(reach, { signal })) closed.push(keyOf(klb));
      }
    }
    return closed;
  }

  /** Octavia lists members by pool only. Until the sample reaches a pool, the status is trusted. */
  #trustMembers({ status }: KuryrLoadBalancer): void {
    const { inventory } = this.#options;
    const observed = inventory.get(status?.loadbalancer?.id ?? '');
    if (observed === undefined) return;
    const members = new Map(observed.members);
    for (const { id, memberIds } of observed.pools) {
      const recorded = (status?.members ?? []).filter(({ pool_id }) => pool_id === id);
      const ids = new Set(recorded.map((member) => member.id));
      if (ids.size !== memberIds.length || memberIds.some((memberId) => !ids.has(memberId)))
        continue;
      const trusted = recorded.flatMap(memberFrom);
      if (trusted.length === recorded.length) members.set(id, trusted);
    }
    inventory.put({ ...observed, members });
  }

  /** Load balancers that users name need not have Causeway's tag. They are read one by one. */
  async #checkShared(changed: Set<string>, signal: AbortSignal): Promise<void> {
    const { inventory, klbs, identity } = this.#options;
    for (const klb of klbs.all()) {
      const id = klb.spec?.options?.loadbalancer_id;
      if (id === undefined || changed.has(id)) continue;
      const known = inventory.get(id);
      if (known !== undefined && identity.isOurs(known.balancer)) continue;
      await this.#alone(`the load balancer ${id}`, signal, async () => {
        await inventory.read(id, { signal });
      });
      changed.add(id);
    }
  }

  async #sampleMembers(changed: Set<string>, signal: AbortSignal): Promise<void> {
    const { inventory, identity, memberSample } = this.#options;
    const pools = [...inventory.all()]
      .filter(({ balancer }) => identity.isOurs(balancer))
      .flatMap(({ balancer, pools: own }) => own.map(({ id }) => [balancer.id, id] as const));
    const count = Math.min(memberSample, pools.length);
    for (let turn = 0; turn < count; turn += 1) {
      const [id, poolId] = pools[(this.#nextPool + turn) % pools.length] ?? [];
      if (id === undefined || poolId === undefined) continue;
      await this.#alone(`the members of the pool ${poolId}`, signal, async () => {
        if (await inventory.readMembers(id, poolId, { signal })) changed.add(id);
      });
    }
    this.#nextPool = pools.length === 0 ? 0 : (this.#nextPool + count) % pools.length;
  }
}

function memberFrom(member: KlbStatusMember): Member[] {
  const address = tryParseAddress(member.ip);
  if (address === undefined) return [];
  return [
    {
      id: member.id,
      name: member.name,
      projectId: member.project_id,
      adminStateUp: true,
      provisioningStatus: 'ACTIVE',
      operatingStatus: 'UNKNOWN',
      tags: [],
      address,
      port: parsePort(member.port),
      subnetId: member.subnet_id,
      weight: 1,
      backup: false,
      monitorAddress: undefined,
      monitorPort: undefined,
    },
  ];
}
