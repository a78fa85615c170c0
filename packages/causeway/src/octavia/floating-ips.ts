import { parseAddress } from '@causeway/base/address/address';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '@causeway/openstack/call';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { FloatingIp } from '@causeway/openstack/neutron/resources';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { chooseSubnets } from './floating-subnet.ts';
import type { Identity } from './identity.ts';
import type { KlbPublicIp, KlbSpec } from './kuryr-load-balancer.ts';

/** Records Events on the Service. */
export type EventSink = Pick<ProviderContext, 'recordEvent'>;

export interface FloatingRequest {
  readonly owner: Owner;
  readonly spec: KlbSpec;
  readonly present: KlbPublicIp | undefined;
  /** The Neutron port of the VIP. */
  readonly portId: string;
  /** The Neutron port of the former load balancer, after the user has named another one. */
  readonly formerPortId?: string | undefined;
  readonly events: EventSink;
}

/**
 * Floating IPs of the VIPs. Floating IPs of users are only associated. Others are allocated from the pool and
 * released.
 */
export class FloatingIps {
  readonly #neutron: Neutron;
  readonly #identity: Identity;
  readonly #known = new Map<string, FloatingIp>();
  /** Owners with a create request that may have succeeded without an answer. */
  readonly #doubtful = new Set<string>();

  constructor(neutron: Neutron, identity: Identity) {
    this.#neutron = neutron;
    this.#identity = identity;
  }

  /** Lists all floating IPs. Returns the IDs of those that changed since the last list. */
  async list(call: CallOptions): Promise<Set<string>> {
    const seen = new Map<string, FloatingIp>();
    for await (const floating of this.#neutron.floatingIps.list({}, call)) {
      seen.set(floating.id, floating);
    }
    const changed = new Set<string>();
    for (const [id, floating] of this.#known) {
      if (seen.get(id)?.portId !== floating.portId) changed.add(id);
    }
    this.#known.clear();
    for (const [id, floating] of seen) this.#known.set(id, floating);
    return changed;
  }

  /** As of the last list and the controller's own writes since. */
  all(): Iterable<FloatingIp> {
    return this.#known.values();
  }

  async delete(id: string, call: CallOptions): Promise<void> {
    await this.#neutron.floatingIps.delete(id, call);
    this.#known.delete(id);
  }

  /** Ensures the floating IP of the load balancer. Returns undefined if it should have none. */
  async ensure(request: FloatingRequest, call: CallOptions): Promise<KlbPublicIp | undefined> {
    const { spec, events, present } = request;
    const wants = spec.type === 'LoadBalancer' && spec.options?.floating_network_id !== undefined;
    if (!wants) {
      if (present !== undefined) await this.release(request, present, false, call);
      return undefined;
    }
    const requested = spec.lb_ip;
    if (requested !== undefined && requested !== present?.ip_addr) {
      // The requested address is checked first: a typing error must not cost the working address.
      const floating = await this.#find(requested, request, call);
      if (present !== undefined) await this.release(request, present, false, call);
      return this.#borrow(floating, request, call);
    }
    if (present !== undefined) {
      const kept = await this.#keep(present, request, call);
      if (kept === 'moved') return this.#take(request, call);
      if (kept !== undefined) return kept;
      const message = `The floating IP ${present.ip_addr} does not exist any more.`;
      events.recordEvent('FloatingIPMissing', message);
      if (requested !== undefined) {
        return this.#borrow(await this.#find(requested, request, call), request, call);
      }
    }
    return this.#take(request, call);
  }

  /** Dissociates the floating IP. One from the pool is deleted unless it is to be kept. */
  async release(
    { owner, portId, events }: Pick<FloatingRequest, 'owner' | 'portId' | 'events'>,
    present: KlbPublicIp,
    isKept: boolean,
    call: CallOptions,
  ): Promise<void> {
    const { ip_id: id, ip_addr: address, alloc_method: method } = present;
    if (method === 'shared' || !(await this.#isOursToTake(present, owner, portId, call))) return;
    events.recordEvent(
      'KuryrReleaseFIP',
      `Dissociating the floating IP ${address} from the load balancer`,
    );
    if (method === 'pool' && !isKept) {
      await this.delete(id, call);
      return;
    }
    const description =
      method === 'pool' ? { description: this.#identity.keptDescription(owner) } : {};
    try {
      await this.#neutron.floatingIps.update(id, { portId: null, ...description }, call);
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
    }
    this.#known.delete(id);
  }

  /** Marks a floating IP from the pool for this Service, so that it is found again without a status. */
  async hold(
    { owner, portId }: Pick<FloatingRequest, 'owner' | 'portId'>,
    present: KlbPublicIp,
    call: CallOptions,
  ): Promise<void> {
    const description = this.#identity.description(owner);
    if (this.#known.get(present.ip_id)?.description === description) return;
    if (!(await this.#isOursToTake(present, owner, portId, call))) return;
    const held = await this.#neutron.floatingIps.update(present.ip_id, { description }, call);
    this.#known.set(held.id, held);
  }

  /**
   * Checks the mark or the port: the status may be old, and the address may belong to another Service now.
   */
  async #isOursToTake(
    { ip_id: id, alloc_method: method }: KlbPublicIp,
    owner: Owner,
    portId: string,
    call: CallOptions,
  ): Promise<boolean> {
    const known = this.#known.get(id);
    if (known !== undefined && this.#identity.isMarkedFor(owner, known)) return true;
    const floating = await this.#read(id, call);
    if (floating === undefined || this.#identity.isAnothers(floating, owner)) return false;
    if (floating.portId === portId || this.#identity.isMarkedFor(owner, floating)) return true;
    return floating.portId === undefined && method === 'pool';
  }

  /** Floating IPs that an earlier attempt created for the owner, regardless of the status. */
  of(owner: Owner): FloatingIp[] {
    return [...this.#known.values()].filter((each) => this.#identity.isMarkedFor(owner, each));
  }

  /**
   * Writes the mark with the UID of this cluster, if this Service's mark has none or has another Service UID.
   */
  async #remark(floating: FloatingIp, owner: Owner, call: CallOptions): Promise<void> {
    const description = this.#identity.description(owner);
    const isTheirs =
      this.#identity.isMarkedFor(owner, floating) || this.#identity.isFormerOf(owner, floating);
    if (!isTheirs || floating.description === description) return;
    const marked = await this.#neutron.floatingIps.update(floating.id, { description }, call);
    this.#known.set(marked.id, marked);
  }

  async #keep(
    present: KlbPublicIp,
    request: FloatingRequest,
    call: CallOptions,
  ): Promise<KlbPublicIp | 'moved' | undefined> {
    const { owner, spec, portId, formerPortId } = request;
    const floating = this.#known.get(present.ip_id) ?? (await this.#read(present.ip_id, call));
    if (floating === undefined) return undefined;
    if (floating.portId === portId) {
      if (present.alloc_method === 'pool') await this.#remark(floating, owner, call);
      return present;
    }
    // It belongs to the formerly shared load balancer and stays there.
    if (present.alloc_method === 'shared') return 'moved';
    // The load balancer that the user named has a floating IP already, and a VIP can have only one.
    if (present.alloc_method === 'pool' && spec.options?.loadbalancer_id !== undefined) {
      if ((await this.#sharedOn(request, call)) !== undefined) {
        await this.release(request, present, false, call);
        return 'moved';
      }
    }
    await this.#associate(floating, owner, portId, call, formerPortId);
    return present;
  }

  /** The user's floating IP, if it exists and is free. */
  async #find(
    text: string,
    { owner, portId }: FloatingRequest,
    call: CallOptions,
  ): Promise<FloatingIp> {
    const address = parseAddress(text);
    for await (const floating of this.#neutron.floatingIps.list({ address }, call)) {
      if (floating.portId === portId) return floating;
      const isAnothers = this.#identity.isAnothers(floating, owner);
      if (floating.portId === undefined && !isAnothers) return floating;
      throw inUse(floating);
    }
    throw new CausewayError('invalid', `the project has no floating IP ${address}`, {
      hint: 'Create the floating IP, or remove the address from the Service to get any.',
    });
  }

  async #borrow(
    floating: FloatingIp,
    { owner, portId, events }: FloatingRequest,
    call: CallOptions,
  ): Promise<KlbPublicIp> {
    const { id, address } = floating;
    if (floating.portId !== portId) {
      const message = `Associating the floating IP ${address} to the load balancer`;
      events.recordEvent('KuryrEnsureFIP', message);
      await this.#associate(floating, owner, portId, call);
    }
    const isShared = this.#identity.isAnothers(floating, owner);
    return { ip_id: id, ip_addr: address, alloc_method: isShared ? 'shared' : 'user' };
  }

  async #take(request: FloatingRequest, call: CallOptions): Promise<KlbPublicIp> {
    const { owner, portId, events } = request;
    const shared = await this.#sharedOn(request, call);
    if (shared !== undefined) {
      return { ip_id: shared.id, ip_addr: shared.address, alloc_method: 'shared' };
    }
    const [earlier = this.#formerOn(owner, portId)] = this.of(owner);
    if (earlier !== undefined) {
      await this.#remark(earlier, owner, call);
      if (earlier.portId !== portId) await this.#associate(earlier, owner, portId, call);
      return { ip_id: earlier.id, ip_addr: earlier.address, alloc_method: 'pool' };
    }
    const mayExist = this.#doubtful.has(owner.uid);
    this.#doubtful.add(owner.uid);
    const made = await this.#create(request, mayExist, call);
    this.#doubtful.delete(owner.uid);
    this.#known.set(made.id, made);
    if (made.portId !== portId) await this.#associate(made, owner, portId, call);
    events.recordEvent(
      'KuryrEnsureFIP',
      `Associating the floating IP ${made.address} to the load balancer`,
    );
    return { ip_id: made.id, ip_addr: made.address, alloc_method: 'pool' };
  }

  /** A shared load balancer already has its address, which keeps its owner. */
  async #sharedOn(
    { owner, portId, spec }: FloatingRequest,
    call: CallOptions,
  ): Promise<FloatingIp | undefined> {
    // Another cluster may have associated a floating IP since the last list.
    if (spec.options?.loadbalancer_id !== undefined) await this.#readPort(portId, call);
    const found = [...this.#known.values()].find((floating) => floating.portId === portId);
    if (found === undefined || this.#identity.isMarkedFor(owner, found)) return undefined;
    return this.#identity.isFormerOf(owner, found) ? undefined : found;
  }

  /**
   * The floating IP of a deleted Service of the same name, on the load balancer that now serves this Service.
   */
  #formerOn(owner: Owner, portId: string): FloatingIp | undefined {
    return [...this.#known.values()].find(
      (floating) => floating.portId === portId && this.#identity.isFormerOf(owner, floating),
    );
  }

  async #create(
    { owner, spec, portId }: FloatingRequest,
    mayExist: boolean,
    call: CallOptions,
  ): Promise<FloatingIp> {
    const { options = {}, project_id: projectId } = spec;
    const floatingNetworkId = options.floating_network_id ?? '';
    const subnets = await chooseSubnets(this.#neutron, floatingNetworkId, options, call);
    const fields = {
      description: this.#identity.description(owner),
      floatingNetworkId,
      portId,
      ...(projectId === undefined ? {} : { projectId }),
    };
    let full: unknown;
    for (const subnetId of subnets) {
      try {
        return await this.#neutron.floatingIps.create(
          { ...fields, ...(subnetId === undefined ? {} : { subnetId }) },
          { ...call, once: 'description', mayExist },
        );
      } catch (error) {
        if (!isErrorCode(error, 'exhausted')) throw error;
        full = error;
      }
    }
    throw full;
  }

  /** A floating IP from the pool moves with the Service from one load balancer to the next. */
  async #associate(
    floating: FloatingIp,
    owner: Owner,
    portId: string,
    call: CallOptions,
    formerPortId?: string,
  ): Promise<void> {
    const isOurs = this.#identity.isMarkedFor(owner, floating);
    if (floating.portId !== undefined && !isOurs) {
      const current = await this.#read(floating.id, call);
      const isFree = [undefined, portId, formerPortId].includes(current?.portId);
      if (!isFree) throw inUse(floating);
    }
    const updated = await this.#neutron.floatingIps.associate(floating.id, portId, call);
    this.#known.set(updated.id, updated);
  }

  async #readPort(portId: string, call: CallOptions): Promise<void> {
    for await (const floating of this.#neutron.floatingIps.list({ portId }, call)) {
      this.#known.set(floating.id, floating);
    }
  }

  async #read(id: string, call: CallOptions): Promise<FloatingIp | undefined> {
    try {
      const floating = await this.#neutron.floatingIps.get(id, call);
      this.#known.set(id, floating);
      return floating;
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      this.#known.delete(id);
      return undefined;
    }
  }
}

function inUse({ address }: FloatingIp): CausewayError {
  return new CausewayError('conflict', `the floating IP ${address} is in use elsewhere`, {
    hint: 'Dissociate the floating IP from the other port, or choose another address.',
  });
}
