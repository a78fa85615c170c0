import type { CallOptions, CreateOptions, Deletion } from '../call.ts';
import { Collection } from '../collection.ts';
import type { ServiceClient } from '../service-client.ts';
import type { Session } from '../session.ts';
import { type Capabilities, supportedPart } from './capabilities.ts';
import type { ChildFilter, HealthMonitorFilter, LoadBalancerFilter } from './contract.ts';
import { deleteUnlessUnderWay } from './delete-once.ts';
import {
  healthMonitorKind,
  listenerKind,
  loadBalancerKind,
  memberKind,
  poolKind,
  type ProjectKey,
} from './kinds.ts';
import type { HealthMonitor, Listener, LoadBalancer, Member, Pool } from './resources.ts';
import type * as spec from './specs.ts';
import type { LoadBalancerWaiter } from './waiter.ts';

/** Common parts of Octavia and LBaaS v2: Octavia's API is derived from LBaaS v2. */
export abstract class LbaasClient {
  abstract readonly kind: 'octavia' | 'lbaas-v2';
  protected readonly client: ServiceClient;
  readonly #session: Session;
  protected readonly balancers;
  protected readonly listenerObjects;
  protected readonly poolObjects;
  protected readonly monitorObjects;

  constructor(session: Session, client: ServiceClient, project: ProjectKey) {
    this.client = client;
    this.#session = session;
    this.balancers = new Collection(client, loadBalancerKind(project));
    this.listenerObjects = new Collection(client, listenerKind(project));
    this.poolObjects = new Collection(client, poolKind(project));
    this.monitorObjects = new Collection(client, healthMonitorKind(project));
  }

  /** Created on first use: a caller that only reads thousands of projects needs no poller for each. */
  get waiter(): LoadBalancerWaiter {
    return this.#session.waiter(this.client.service, this);
  }

  abstract capabilities(provider?: string): Capabilities;

  loadBalancers(filter: LoadBalancerFilter, call: CallOptions): AsyncGenerator<LoadBalancer> {
    return this.balancers.list(supportedPart(this.capabilities(), filter), call);
  }

  loadBalancer(id: string, call: CallOptions): Promise<LoadBalancer> {
    return this.balancers.get(id, call);
  }

  async updateLoadBalancer(
    id: string,
    change: spec.LoadBalancerChange,
    call: CallOptions,
  ): Promise<LoadBalancer> {
    return this.balancers.update(id, supportedPart(this.capabilities(), change), call);
  }

  listeners(filter: ChildFilter, call: CallOptions): AsyncGenerator<Listener> {
    return this.listenerObjects.list(supportedPart(this.capabilities(), filter), call);
  }

  listener(id: string, call: CallOptions): Promise<Listener> {
    return this.listenerObjects.get(id, call);
  }

  async createListener(wanted: spec.ListenerSpec, call: CreateOptions): Promise<Listener> {
    return this.listenerObjects.create(supportedPart(this.capabilities(), wanted), call);
  }

  async updateListener(
    id: string,
    change: spec.ListenerChange,
    call: CallOptions,
  ): Promise<Listener> {
    return this.listenerObjects.update(id, supportedPart(this.capabilities(), change), call);
  }

  deleteListener(id: string, call: CallOptions): Promise<Deletion> {
    return deleteUnlessUnderWay(this.listenerObjects, id, call);
  }

  pools(filter: ChildFilter, call: CallOptions): AsyncGenerator<Pool> {
    return this.poolObjects.list(supportedPart(this.capabilities(), filter), call);
  }

  pool(id: string, call: CallOptions): Promise<Pool> {
    return this.poolObjects.get(id, call);
  }

  async createPool(wanted: spec.PoolSpec, call: CreateOptions): Promise<Pool> {
    return this.poolObjects.create(supportedPart(this.capabilities(), wanted), call);
  }

  async updatePool(id: string, change: spec.PoolChange, call: CallOptions): Promise<Pool> {
    return this.poolObjects.update(id, supportedPart(this.capabilities(), change), call);
  }

  deletePool(id: string, call: CallOptions): Promise<Deletion> {
    return deleteUnlessUnderWay(this.poolObjects, id, call);
  }

  members(poolId: string, call: CallOptions): AsyncGenerator<Member> {
    return this.memberObjects(poolId).list({}, call);
  }

  async createMember(
    poolId: string,
    wanted: spec.MemberSpec,
    call: CreateOptions,
  ): Promise<Member> {
    return this.memberObjects(poolId).create(supportedPart(this.capabilities(), wanted), call);
  }

  async updateMember(
    poolId: string,
    id: string,
    change: spec.MemberChange,
    call: CallOptions,
  ): Promise<Member> {
    const known = supportedPart(this.capabilities(), change);
    return this.memberObjects(poolId).update(id, known, call);
  }

  deleteMember(poolId: string, id: string, call: CallOptions): Promise<Deletion> {
    return deleteUnlessUnderWay(this.memberObjects(poolId), id, call);
  }

  healthMonitors(filter: HealthMonitorFilter, call: CallOptions): AsyncGenerator<HealthMonitor> {
    return this.monitorObjects.list(supportedPart(this.capabilities(), filter), call);
  }

  healthMonitor(id: string, call: CallOptions): Promise<HealthMonitor> {
    return this.monitorObjects.get(id, call);
  }

  async createHealthMonitor(
    wanted: spec.HealthMonitorSpec,
    call: CreateOptions,
  ): Promise<HealthMonitor> {
    return this.monitorObjects.create(supportedPart(this.capabilities(), wanted), call);
  }

  async updateHealthMonitor(
    id: string,
    change: spec.HealthMonitorChange,
    call: CallOptions,
  ): Promise<HealthMonitor> {
    return this.monitorObjects.update(id, supportedPart(this.capabilities(), change), call);
  }

  deleteHealthMonitor(id: string, call: CallOptions): Promise<Deletion> {
    return deleteUnlessUnderWay(this.monitorObjects, id, call);
  }

  protected memberObjects(poolId: string) {
    return new Collection(this.client, memberKind(poolId));
  }
}
