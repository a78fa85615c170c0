import type { CallOptions, CreateOptions, Deletion } from '../call.ts';
import { collect } from '../collect.ts';
import { Fields } from '../fields.ts';
import { item, route, type Route } from '../route.ts';
import type { Session } from '../session.ts';
import { toWire } from '../wire.ts';
import {
  type Capabilities,
  octaviaCapabilities,
  type OctaviaMinor,
  supportedPart,
} from './capabilities.ts';
import type { LoadBalancing } from './contract.ts';
import { deleteUnlessUnderWay } from './delete-once.ts';
import { LbaasClient } from './lbaas-client.ts';
import { readAgainAfterLoss } from './read-again.ts';
import { hasChanges, isStaying, memberChanges } from './member-changes.ts';
import { parseStatusTree } from './parsers.ts';
import type {
  AvailabilityZone,
  Flavor,
  LoadBalancer,
  Member,
  Provider,
  StatusTree,
} from './resources.ts';
import type { LoadBalancerSpec, MemberSpec } from './specs.ts';
import { memberSpec } from './tables.ts';

/** Octavia's API v2. */
export class Octavia extends LbaasClient implements LoadBalancing {
  override readonly kind = 'octavia';
  readonly #minor: OctaviaMinor;

  constructor(session: Session, minor: OctaviaMinor) {
    super(session, session.service('load-balancer'), 'project_id');
    this.#minor = minor;
  }

  override capabilities(provider?: string): Capabilities {
    return octaviaCapabilities(this.#minor, provider);
  }

  async createLoadBalancer(spec: LoadBalancerSpec, call: CreateOptions): Promise<LoadBalancer> {
    return this.balancers.create(supportedPart(this.capabilities(spec.provider), spec), call);
  }

  deleteLoadBalancer(
    id: string,
    call: CallOptions & { readonly cascade?: boolean },
  ): Promise<Deletion> {
    const query = call.cascade === true ? new URLSearchParams({ cascade: 'true' }) : undefined;
    return deleteUnlessUnderWay(this.balancers, id, call, query);
  }

  statusTree(loadBalancerId: string, call: CallOptions): Promise<StatusTree> {
    const parse = (value: unknown) =>
      parseStatusTree(new Fields(value, 'answer').object('statuses'));
    return this.client.get(
      item(route`/lbaas/loadbalancers`, loadBalancerId, '/status'),
      parse,
      call,
    );
  }

  async replaceMembers(
    poolId: string,
    wanted: readonly MemberSpec[],
    call: CallOptions & { readonly keepOthers?: boolean },
  ): Promise<'changed' | 'unchanged'> {
    const { members } = supportedPart(this.capabilities(), { members: wanted });
    return this.balancers.within(call, 'replacing members', async (signal) => {
      const inner = { ...call, signal };
      let result: 'changed' | 'unchanged' = 'unchanged';
      await readAgainAfterLoss(this.client, signal, async () => {
        const batch = await this.#batch(poolId, members, inner);
        if (batch === undefined) return;
        result = 'changed';
        await this.#putMembers(poolId, batch, inner);
      });
      return result;
    });
  }

  /** The batch to send, if any: Octavia locks the load balancer even for a batch without changes. */
  async #batch(
    poolId: string,
    members: readonly MemberSpec[],
    call: CallOptions & { readonly keepOthers?: boolean },
  ): Promise<Batch | undefined> {
    const keepOthers = call.keepOthers === true;
    const current = await collect(this.members(poolId, call));
    if (!hasChanges(memberChanges(current, members, keepOthers))) return undefined;
    if (!keepOthers) return { members };
    if (this.capabilities().additiveBatch) {
      return { members, query: new URLSearchParams({ additive_only: 'true' }) };
    }
    const others = current.filter(
      (member) => isStaying(member) && !members.some((wanted) => isAt(wanted, member)),
    );
    return { members: [...members, ...others.map(asSpec)] };
  }

  providers(call: CallOptions): Promise<Provider[]> {
    return this.#all(route`/lbaas/providers`, 'providers', parseNamed, call);
  }

  async flavors(call: CallOptions): Promise<Flavor[]> {
    if (!this.capabilities().flavors) return [];
    return this.#all(route`/lbaas/flavors`, 'flavors', parseFlavor, call);
  }

  async availabilityZones(call: CallOptions): Promise<AvailabilityZone[]> {
    if (!this.capabilities().availabilityZones) return [];
    const at = route`/lbaas/availabilityzones`;
    return this.#all(at, 'availability_zones', parseZone, call);
  }

  #all<T>(at: Route, key: string, parse: (fields: Fields) => T, call: CallOptions): Promise<T[]> {
    const parseAll = (value: unknown) => new Fields(value, 'answer').objects(key).map(parse);
    return this.client.get(at, parseAll, call);
  }

  #putMembers(poolId: string, { members, query }: Batch, call: CallOptions): Promise<void> {
    const body = { members: members.map((member) => toWire(memberSpec, member)) };
    return this.client.putOnce(item(route`/lbaas/pools`, poolId, '/members'), body, call, query);
  }
}

interface Batch {
  readonly members: readonly MemberSpec[];
  readonly query?: URLSearchParams;
}

type Located = Pick<MemberSpec, 'address' | 'port'>;

function isAt(left: Located, right: Located): boolean {
  return left.address === right.address && left.port === right.port;
}

/** An unchanged member, for a batch that must list it to keep it. */
function asSpec({ address, port, subnetId, name, weight, adminStateUp }: Member): MemberSpec {
  const subnet = subnetId === undefined ? {} : { subnetId };
  return { address, port, name, weight, adminStateUp, ...subnet };
}

function parseNamed(fields: Fields): Provider {
  return { name: fields.string('name'), description: fields.text('description') };
}

function parseFlavor(fields: Fields): Flavor {
  return {
    ...parseNamed(fields),
    id: fields.string('id'),
    enabled: fields.boolean('enabled', true),
  };
}

function parseZone(fields: Fields): AvailabilityZone {
  return { ...parseNamed(fields), enabled: fields.boolean('enabled', true) };
}

/** The highest minor version of API v2 in the root document. */
export function parseOctaviaVersions(value: unknown): OctaviaMinor {
  const ids = new Fields(value, 'answer').objects('versions').map((version) => version.text('id'));
  const minors = ids.flatMap((id) => /^v2\.(\d+)$/.exec(id)?.[1] ?? []);
  return Math.max(0, ...minors.map(Number));
}
