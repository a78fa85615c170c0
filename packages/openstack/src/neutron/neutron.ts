import type { CallOptions, Deletion } from '../call.ts';
import { Collection } from '../collection.ts';
import { OpenStackError } from '../error.ts';
import { Fields } from '../fields.ts';
import { item, route } from '../route.ts';
import type { ServiceClient } from '../service-client.ts';
import type { Session } from '../session.ts';
import { toWire, type WireTable } from '../wire.ts';
import {
  floatingIpKind,
  networkKind,
  portKind,
  routerKind,
  securityGroupKind,
  securityGroupRuleKind,
  subnetKind,
} from './kinds.ts';
import { parseExtension, parseQuota } from './parsers.ts';
import type { Extension, FloatingIp, Quota } from './resources.ts';
import type { FloatingIpChange, FloatingIpFilter, FloatingIpSpec } from './specs.ts';
import { TaggedCollection } from './tagged-collection.ts';

const quotaTable: WireTable<Quota> = {
  networks: 'network',
  subnets: 'subnet',
  ports: 'port',
  floatingIps: 'floatingip',
  routers: 'router',
  securityGroups: 'security_group',
  securityGroupRules: 'security_group_rule',
};

/** Neutron in one project. */
export class Neutron {
  readonly #client: ServiceClient;
  readonly networks;
  readonly subnets;
  readonly ports;
  readonly floatingIps;
  readonly routers;
  readonly securityGroups;
  readonly securityGroupRules;

  constructor(session: Session) {
    this.#client = session.service('network');
    this.networks = new TaggedCollection(this.#client, networkKind);
    this.subnets = new TaggedCollection(this.#client, subnetKind);
    this.ports = new TaggedCollection(this.#client, portKind);
    this.floatingIps = new FloatingIps(this.#client, floatingIpKind);
    this.routers = new TaggedCollection(this.#client, routerKind);
    this.securityGroups = new TaggedCollection(this.#client, securityGroupKind);
    this.securityGroupRules = new Collection(this.#client, securityGroupRuleKind);
  }

  quota(projectId: string, call: CallOptions): Promise<Quota> {
    return this.#client.get(item(route`/quotas`, projectId), parseQuotaAnswer, call);
  }

  /** For administrators. Omitted limits stay unchanged. */
  setQuota(
    projectId: string,
    limits: { readonly [Key in keyof Quota]?: number },
    call: CallOptions,
  ): Promise<Quota> {
    const body = { quota: toWire(quotaTable, limits) };
    return this.#client.put(item(route`/quotas`, projectId), body, parseQuotaAnswer, call);
  }

  extensions(call: CallOptions): Promise<Extension[]> {
    const parse = (value: unknown) =>
      new Fields(value, 'answer').objects('extensions').map(parseExtension);
    return this.#client.get(route`/extensions`, parse, call);
  }

  /** Connects the subnet to the router. An existing connection is a success. */
  async addRouterInterface(routerId: string, subnetId: string, call: CallOptions): Promise<void> {
    const action = item(routerKind.route, routerId, '/add_router_interface');
    try {
      await this.#client.putQuietly(action, { subnet_id: subnetId }, call);
    } catch (error) {
      // A repeated request finds the subnet connected: Neutron answers with a bad request.
      if (!(error instanceof OpenStackError) || error.outcome !== 'refused') throw error;
      if (!(await this.#isConnected(routerId, subnetId, call))) throw error;
    }
  }

  async removeRouterInterface(
    routerId: string,
    subnetId: string,
    call: CallOptions,
  ): Promise<Deletion> {
    const action = item(routerKind.route, routerId, '/remove_router_interface');
    try {
      await this.#client.putQuietly(action, { subnet_id: subnetId }, call);
      return 'deleted';
    } catch (error) {
      if (error instanceof OpenStackError && error.status === 404) return 'absent';
      throw error;
    }
  }

  async #isConnected(routerId: string, subnetId: string, call: CallOptions): Promise<boolean> {
    const filter = { deviceId: routerId, fixedIp: { subnetId } };
    const { done } = await this.ports.list(filter, call).next();
    return done !== true;
  }
}

class FloatingIps extends TaggedCollection<
  FloatingIp,
  FloatingIpSpec,
  FloatingIpChange,
  FloatingIpFilter
> {
  associate(id: string, portId: string, call: CallOptions): Promise<FloatingIp> {
    return this.update(id, { portId }, call);
  }

  dissociate(id: string, call: CallOptions): Promise<FloatingIp> {
    return this.update(id, { portId: null }, call);
  }
}

function parseQuotaAnswer(value: unknown): Quota {
  return parseQuota(new Fields(value, 'answer').object('quota'));
}
