import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';

/**
 * Octavia's provider of a load balancer, which determines the capabilities. Without a configured provider it
 * is the cloud's default, which Octavia shows only by the load balancers that it creates.
 */
export class ServingProvider {
  #default: string | undefined;

  of(klb: KuryrLoadBalancer, observed: ObservedBalancer | undefined): string | undefined {
    const { provider, options } = klb.spec ?? {};
    const present = observed?.balancer.provider;
    // A load balancer that the user names is used unchanged. An own one is replaced for another provider.
    if (options?.loadbalancer_id !== undefined) return present ?? provider;
    return provider ?? present ?? this.#default;
  }

  /** A load balancer that was created without a provider has the default. */
  learn(asked: string | undefined, made: string | undefined): void {
    if (asked === undefined && made !== undefined) this.#default = made;
  }
}
