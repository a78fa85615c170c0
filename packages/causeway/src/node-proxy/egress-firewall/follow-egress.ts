import type { Prefix } from '@causeway/base/address/prefix';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { isServed } from '@causeway/kubernetes/objects/is-served';
import type { ProxyStore } from '../proxy-store.ts';
import { egressNetworkPolicies, type EgressNetworkPolicy } from './egress-network-policy.ts';
import { parseEgressPolicy, type EgressPolicy } from './egress-rules.ts';
import { followPodNetworks } from './follow-pod-networks.ts';
import { NameWatcher, type ResolveName } from './name-watcher.ts';

export interface FollowEgressOptions {
  readonly store: ProxyStore;
  readonly client: KubeClient;
  /** If empty, the pod networks of all nodes. */
  readonly clusterNetworks: readonly Prefix[];
  readonly resolve: ResolveName;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const absentCheckMs = 30_000;

/** Writes the inputs of the egress firewall to the store: policies, cluster networks, and addresses of names. */
export class EgressFollower {
  readonly #options: FollowEgressOptions;
  readonly #names: NameWatcher;
  readonly #known = Promise.withResolvers<void>();
  /** Undefined until the nodes are known. */
  #networks: readonly Prefix[] | undefined;
  readonly #networksKnown = Promise.withResolvers<void>();

  constructor(options: FollowEgressOptions) {
    const { store, clock, log, resolve } = options;
    this.#options = options;
    this.#names = new NameWatcher({
      clock,
      log,
      resolve,
      onChange: (name, addresses) => store.setAddresses(name, addresses),
    });
    if (options.clusterNetworks.length > 0) this.#setNetworks(options.clusterNetworks);
  }

  /** Resolves when the policies are known and each name has been resolved once, or has failed to. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  #setNetworks(networks: readonly Prefix[]): void {
    this.#networks = networks;
    this.#options.store.setClusterNetworks(networks);
    this.#networksKnown.resolve();
  }

  /** Follows the inputs until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, client, clock, log, metrics } = this.#options;
    if (!(await this.#areServed(signal))) {
      log.info({}, 'the cluster has no EgressNetworkPolicies: nothing is hidden');
      this.#known.resolve();
      do await sleep(clock, absentCheckMs, signal);
      while (!(await this.#areServed(signal)));
    }
    const stop = store.policies.onChange(({ type, key }) => {
      this.#names.watch(store.names());
      if (type === 'added') this.#warnIfBlind(key);
    });
    const reflector = new Reflector<EgressNetworkPolicy, EgressPolicy, 'namespace'>({
      client,
      clock,
      log,
      metrics,
      store: store.policies,
      resource: egressNetworkPolicies,
      projection: parseEgressPolicy,
    });
    try {
      await supervise(signal, {
        policies: (inner) => reflector.run(inner),
        ...this.#networkLoops(),
        'initial sync': (inner) => this.#untilKnown(inner),
      });
    } finally {
      stop();
      this.#names.close();
    }
  }

  async #untilKnown(signal: AbortSignal): Promise<void> {
    const { policies } = this.#options.store;
    await whenSynced([policies], signal);
    const stopped = whenAborted(signal);
    await Promise.race([this.#networksKnown.promise, stopped]);
    for (const { key } of policies.values()) this.#warnIfBlind(key);
    await this.#names.tried();
    this.#known.resolve();
    await stopped;
  }

  /**
   * Only a definite answer counts. On errors the proxy waits, because the existing rules are still in place.
   */
  async #areServed(signal: AbortSignal): Promise<boolean> {
    const { client, clock, log } = this.#options;
    for (;;) {
      try {
        return await isServed(client, egressNetworkPolicies, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn(
          { error },
          'reading the API resources failed, EgressNetworkPolicies may exist; trying again',
        );
        await sleep(clock, 2_000, signal);
      }
    }
  }

  /**
   * Uses the networks of the Nodes. The owner of an EndpointSlice could declare any address as a pod's, but
   * can't write Nodes.
   */
  #networkLoops(): Readonly<Record<string, Loop>> {
    const { clusterNetworks, client, clock, log, metrics } = this.#options;
    if (clusterNetworks.length > 0) return {};
    const onChange = (networks: readonly Prefix[]) => this.#setNetworks(networks);
    return {
      'pod networks': (signal) =>
        followPodNetworks({ client, clock, log, metrics, onChange }, signal),
    };
  }

  #warnIfBlind(policy: string): void {
    if (this.#networks === undefined || this.#networks.length > 0) return;
    this.#options.log.error(
      { policy },
      'the networks of the cluster are unknown, so this EgressNetworkPolicy applies to pods too: set egressFirewall.clusterNetworks',
    );
  }
}
