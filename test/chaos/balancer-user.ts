import { parseAddress } from '../../packages/base/src/address/address.ts';
import { parsePort } from '../../packages/base/src/address/port.ts';
import { collect } from '../../packages/openstack/src/collect.ts';
import type { LoadBalancing } from '../../packages/openstack/src/load-balancing/contract.ts';
import { servers } from '../kernel/gateway/topology.ts';
import { persist } from './doings.ts';

const limitMs = 60_000;

/** User in another project that creates load balancers. */
export class BalancerUser {
  readonly #balancing: LoadBalancing;
  readonly #subnet: string;

  constructor(balancing: LoadBalancing, subnet: string) {
    this.#balancing = balancing;
    this.#subnet = subnet;
  }

  async add(name: string): Promise<void> {
    await persist(async () => {
      const call = { signal: AbortSignal.timeout(limitMs) };
      const there = await collect(this.#balancing.loadBalancers({ name }, call));
      if (there.length > 0) return;
      const members = [{ name, address: parseAddress(servers.p1.v4), port: parsePort(8080) }];
      const pool = { name, protocol: 'TCP', algorithm: 'ROUND_ROBIN', members } as const;
      const listener = { name, protocol: 'TCP', port: parsePort(80), defaultPool: pool } as const;
      const spec = { name, vipSubnetId: this.#subnet, listeners: [listener] };
      await this.#balancing.createLoadBalancer(spec, call);
    });
  }

  async remove(name: string): Promise<void> {
    await persist(async () => {
      const call = { signal: AbortSignal.timeout(limitMs), cascade: true };
      const there = await collect(this.#balancing.loadBalancers({ name }, call));
      for (const { id } of there) await this.#balancing.deleteLoadBalancer(id, call);
    });
  }
}
