import type { Prefix } from '@causeway/base/address/prefix';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { isServed } from '@causeway/kubernetes/objects/is-served';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { ServiceProxy } from '../served-service.ts';
import { EgressFirewall } from './egress-firewall.ts';
import { egressNetworkPolicies, type EgressNetworkPolicy } from './egress-network-policy.ts';
import { followPodNetworks } from './follow-pod-networks.ts';
import { NameWatcher, type ResolveName } from './name-watcher.ts';
import { SyncGate } from './sync-gate.ts';

export interface EgressFilterOptions {
  readonly inner: ServiceProxy;
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
  /** If empty, the pod networks of all nodes. */
  readonly clusterNetworks: readonly Prefix[];
  readonly exemptNamespaces: readonly string[];
  readonly resolve: ResolveName;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const absentCheckMs = 30_000;

/** The egress firewall with its inputs: the policies of the cluster, and DNS. */
export class EgressFilter {
  /** Send Services and slices to this proxy instead of the inner proxy. */
  readonly proxy: ServiceProxy;
  readonly #options: EgressFilterOptions;
  readonly #firewall: EgressFirewall;
  readonly #names: NameWatcher;
  readonly #gate: SyncGate;
  /** Undefined until the nodes are known. */
  #networks: readonly Prefix[] | undefined;
  readonly #networksKnown = Promise.withResolvers<void>();

  constructor(options: EgressFilterOptions) {
    const { inner, clock, log, recorder } = options;
    this.#options = options;
    this.#gate = new SyncGate(inner);
    this.#names = new NameWatcher({
      clock,
      log,
      resolve: options.resolve,
      onChange: (name) => this.#firewall.nameChanged(name),
    });
    this.#firewall = new EgressFirewall({
      ...options,
      inner: this.#gate,
      exemptNamespaces: new Set(options.exemptNamespaces),
      addressesOf: (name) => this.#names.addressesOf(name),
      watchNames: (names) => this.#names.watch(names),
      reportHidden: (service, message) =>
        recorder.recordAbout(service, { type: 'Warning', reason: 'EgressDenied', message }),
    });
    this.proxy = this.#firewall;
    if (options.clusterNetworks.length > 0) this.#setNetworks(options.clusterNetworks);
  }

  #setNetworks(networks: readonly Prefix[]): void {
    this.#networks = networks;
    this.#firewall.setClusterNetworks(networks);
    this.#networksKnown.resolve();
  }

  /**
   * Runs until the signal fires. Rules are written only after the policies are known and each name has been
   * resolved once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, log, metrics } = this.#options;
    if (!(await this.#areServed(signal))) {
      log.info({}, 'the cluster has no EgressNetworkPolicies: nothing is hidden');
      this.#gate.open();
      do await sleep(clock, absentCheckMs, signal);
      while (!(await this.#areServed(signal)));
    }
    const store = new Store<EgressNetworkPolicy>({ log });
    store.onChange((change) => {
      if (change.type === 'deleted') this.#firewall.removePolicy(change.key);
      else this.#firewall.setPolicy(change.after);
      if (change.type === 'added') this.#warnIfBlind(change.key);
    });
    const reflector = new Reflector({
      client,
      clock,
      log,
      metrics,
      store,
      resource: egressNetworkPolicies,
      projection: withSlimMetadata<EgressNetworkPolicy>,
    });
    try {
      await supervise(signal, {
        policies: (inner) => reflector.run(inner),
        ...this.#networkLoops(),
        'initial sync': async (inner) => {
          await whenSynced([store], inner);
          const stopped = whenAborted(inner);
          await Promise.race([this.#networksKnown.promise, stopped]);
          for (const policy of store.values()) this.#warnIfBlind(keyOf(policy));
          await this.#names.tried();
          this.#gate.open();
          await stopped;
        },
      });
    } finally {
      this.#names.close();
    }
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
      'nothing says which networks are the cluster’s, so this EgressNetworkPolicy is held against pods too: set egressFirewall.clusterNetworks',
    );
  }
}
