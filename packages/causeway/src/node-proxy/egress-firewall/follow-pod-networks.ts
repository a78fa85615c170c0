import type { Prefix } from '@causeway/base/address/prefix';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { slimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { nodes } from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { podNetworks } from '../node-context.ts';

export interface FollowPodNetworksOptions {
  readonly client: KubeClient;
  /** Called once all nodes are known, and whenever their networks change. */
  readonly onChange: (networks: readonly Prefix[]) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Follows the pod networks of all nodes, where the cluster's networks are not configured. */
export async function followPodNetworks(
  { onChange, ...surroundings }: FollowPodNetworksOptions,
  signal: AbortSignal,
): Promise<void> {
  const store = new Store<Node>({ log: surroundings.log });
  let reported: string | undefined;
  const report = () => {
    const networks = [...store.values()].flatMap((node) => podNetworks(node));
    const text = JSON.stringify(networks);
    if (text === reported) return;
    reported = text;
    onChange(networks);
  };
  // Nodes are written often, but their networks rarely change.
  store.onChange((change) => {
    if (!store.isSynced) return;
    if (change.type !== 'updated' || hasMoved(change)) report();
  });
  const reflector = new Reflector<Node, Node>({
    ...surroundings,
    store,
    resource: nodes,
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
      report();
      await whenAborted(inner);
    },
  });
}

function hasMoved({ before, after }: { readonly before: Node; readonly after: Node }): boolean {
  return before.spec?.podCIDRs?.join() !== after.spec?.podCIDRs?.join();
}
