import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';

/**
 * Octavia's provider behind a load balancer, which decides what can be asked of it. Where nobody names one
 * it is the cloud's default, which Octavia tells only by what it makes.
 */
export class ServingProvider {
  #default: string | undefined;

  of(klb: KuryrLoadBalancer, observed: ObservedBalancer | undefined): string | undefined {
    const { provider, options } = klb.spec ?? {};
    const present = observed?.balancer.provider;
    // One that the user names is used as it is; our own is made anew for another provider.
    if (options?.loadbalancer_id !== undefined) return present ?? provider;
    return provider ?? present ?? this.#default;
  }

  /** One was made: without a word about the provider, it has the default. */
  learn(asked: string | undefined, made: string | undefined): void {
    if (asked === undefined && made !== undefined) this.#default = made;
  }
}
