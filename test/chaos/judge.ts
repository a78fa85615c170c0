import type { SeenService } from './observation.ts';

/** Triples of address, protocol and port that more than one Service has. */
export function findSharedPlaces(services: readonly SeenService[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { name, places } of services) {
    for (const place of places) owners.set(place, [...(owners.get(place) ?? []), name]);
  }
  return [...owners]
    .filter(([, names]) => names.length > 1)
    .map(([place, names]) => `${place} belongs to ${names.join(' and ')}`);
}

/** Addresses that the ledger also assigned to another cluster, or to two owners of the other cluster. */
export function findTakenTwice(
  services: readonly SeenService[],
  held: readonly (readonly [owner: string, address: string])[],
): string[] {
  return held.flatMap(([owner, address], index) => [
    ...services
      .filter(({ addresses }) => addresses.includes(address))
      .map(({ name }) => `${address} belongs to ${owner} and to ${name}`),
    ...held
      .slice(index + 1)
      .filter(([, other]) => other === address)
      .map(([other]) => `${address} belongs to ${owner} and to ${other}`),
  ]);
}

/** Addresses that untouched Services have lost. */
export function findLostAddresses(
  before: readonly SeenService[],
  after: readonly SeenService[],
  isUntouched: (service: string) => boolean,
): string[] {
  const now = new Map(after.map((service) => [service.uid, service]));
  return before
    .filter(({ name, isDeleting }) => !isDeleting && isUntouched(name))
    .flatMap(({ name, uid, addresses }) => {
      const service = now.get(uid);
      if (service === undefined) return [`${name} is gone`];
      return addresses
        .filter((address) => !service.addresses.includes(address))
        .map((address) => `${name} has lost ${address}`);
    });
}

export interface Outage {
  readonly key: string;
  readonly ms: number;
  readonly error: string;
}

/** Reports a target that has not answered for too long. */
export class OutageJudge {
  readonly #limitMs: number;
  readonly #failingSince = new Map<string, number>();
  readonly #reported = new Set<string>();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  answered(key: string): void {
    this.#failingSince.delete(key);
    this.#reported.delete(key);
  }

  /** The target is no longer connected to. */
  drop(key: string): void {
    this.answered(key);
  }

  /**
   * Records a failed attempt. Failures are excused up to the given time; undefined means that they are
   * excused now. Returns the length of an unexcused outage that is too long, once.
   */
  failed(
    {
      key,
      beganAt,
      tookMs,
      error = '',
    }: { key: string; beganAt: number; tookMs: number; error?: string },
    excusedUntil: number | undefined,
  ): Outage | undefined {
    const since = this.#failingSince.get(key) ?? beganAt;
    this.#failingSince.set(key, since);
    if (excusedUntil === undefined || this.#reported.has(key)) return undefined;
    const ms = beganAt + tookMs - Math.max(since, excusedUntil);
    if (ms <= this.#limitMs) return undefined;
    this.#reported.add(key);
    return { key, ms, error };
  }
}
