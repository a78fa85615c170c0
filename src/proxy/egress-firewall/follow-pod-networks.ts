import type { Prefix } from '../../domain/prefix.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Node } from '../../kube/core-objects.ts';
import { slimMetadata } from '../../kube/projection.ts';
import { Reflector } from '../../kube/reflector.ts';
import { nodes } from '../../kube/resources.ts';
import { Store, whenSynced } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { supervise } from '../../runtime/supervisor.ts';
import { podNetworks } from '../node-context.ts';

export interface FollowPodNetworksOptions {
  readonly client: KubeClient;
  /** Told once all nodes are known, and whenever their networks are others. */
  readonly onChange: (networks: readonly Prefix[]) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Follows the pod networks of all nodes, where nobody has said which networks are the cluster's. */
export async function followPodNetworks(
  { onChange, ...surroundings }: FollowPodNetworksOptions,
  signal: AbortSignal,
): Promise<void> {
  const store = new Store<Node>({ log: surroundings.log });
  let told: string | undefined;
  const tell = () => {
    const networks = [...store.values()].flatMap((node) => podNetworks(node));
    const text = JSON.stringify(networks);
    if (text === told) return;
    told = text;
    onChange(networks);
  };
  // Nodes are written often, and their networks once.
  store.onChange((change) => {
    if (!store.isSynced) return;
    if (change.type !== 'updated' || hasMoved(change)) tell();
  });
  const reflector = new Reflector<Node, Node>({
    ...{ ...surroundings, store, resource: nodes },
    projection: ({ metadata, spec }) => {
      const { podCIDR, podCIDRs } = spec ?? {};
      const kept = podCIDRs ?? (podCIDR === undefined ? [] : [podCIDR]);
      return { metadata: slimMetadata(metadata), spec: { podCIDRs: kept } };
    },
  });
  await supervise(signal, {
    nodes: (inner) => reflector.run(inner),
    'pod networks': async (inner) => {
      await whenSynced([store], inner);
      tell();
      await new Promise((resolve) => inner.addEventListener('abort', resolve, { once: true }));
    },
  });
}

function hasMoved({ before, after }: { readonly before: Node; readonly after: Node }): boolean {
  return before.spec?.podCIDRs?.join() !== after.spec?.podCIDRs?.join();
}
