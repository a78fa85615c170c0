import { parseAddress } from '../../../packages/base/src/address/address.ts';

/** A simple model of a site, to compare the allocator with. One family, one pool, no sharing. */
export interface Held {
  readonly address: string;
  readonly fencingToken: number;
  readonly name: string | undefined;
}

export interface Resting {
  readonly until: number;
  /** `cluster/name` that may get it back at any time. */
  readonly keptFor: string | undefined;
}

export class SiteModel {
  now = 1_000_000;
  pool = new Set<string>();
  drained = false;
  readonly quota: number;
  readonly quarantineMs: number;
  readonly keepMs: number;
  /** By `cluster/uid`. */
  readonly held = new Map<string, Held>();
  readonly resting = new Map<string, Resting>();
  /** The fencing token of an owner's earlier reservation. */
  readonly staleFencingTokens = new Map<string, number>();

  constructor(quota: number, quarantineMs: number, keepMs: number) {
    this.quota = quota;
    this.quarantineMs = quarantineMs;
    this.keepMs = keepMs;
  }

  holdings(cluster: string): string[] {
    return [...this.held.keys()].filter((owner) => owner.startsWith(`${cluster}/`));
  }

  isHeld(address: string): boolean {
    return [...this.held.values()].some((held) => held.address === address);
  }

  /** What a request without a name may get: unreserved addresses after their quarantine. */
  allocatable(): Set<string> {
    if (this.drained) return new Set();
    return new Set(
      [...this.pool].filter((address) => {
        const resting = this.resting.get(address);
        return !this.isHeld(address) && (resting === undefined || resting.until <= this.now);
      }),
    );
  }

  /** Addresses kept for a Service of this name, if the pool still contains them. */
  keptFor(cluster: string, name: string | undefined): string[] {
    if (name === undefined || this.drained) return [];
    return [...this.resting]
      .filter(
        ([address, { keptFor }]) => keptFor === `${cluster}/${name}` && this.pool.has(address),
      )
      .map(([address]) => address);
  }

  reserved(owner: string, held: Held): void {
    this.held.set(owner, held);
    this.resting.delete(held.address);
  }

  freed(owner: string): void {
    const held = this.held.get(owner);
    if (held === undefined) return;
    const [cluster = ''] = owner.split('/');
    const keeps = held.name !== undefined;
    const restMs = Math.max(this.quarantineMs, keeps ? this.keepMs : 0);
    const keptFor = keeps ? `${cluster}/${held.name}` : undefined;
    if (restMs > 0) this.resting.set(held.address, { until: this.now + restMs, keptFor });
    this.held.delete(owner);
    this.staleFencingTokens.set(owner, held.fencingToken);
  }

  /** Everything that a cluster held is in quarantine; nothing is kept for an owner. */
  voided(cluster: string): void {
    for (const owner of this.holdings(cluster)) {
      const { address } = this.held.get(owner) ?? { address: '' };
      this.held.delete(owner);
      this.staleFencingTokens.delete(owner);
      if (this.quarantineMs > 0) {
        this.resting.set(address, { until: this.now + this.quarantineMs, keptFor: undefined });
      }
    }
  }

  /** Effect of a sweep: an address after its quarantine is like any other free address. */
  swept(): void {
    for (const [address, { until }] of [...this.resting]) {
      if (until <= this.now) this.resting.delete(address);
    }
  }
}

export const addressNumber = (index: number): string => parseAddress(`10.0.0.${index + 1}`);
