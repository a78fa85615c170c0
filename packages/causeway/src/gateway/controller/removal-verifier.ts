import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { namespaces, services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { verifyRemovals } from './verify-removals.ts';
import type { PortKeeper } from './port-keeper.ts';
import type { RemovalVerdict, WithheldFrontend } from './withheld-removals.ts';

/** Verifies removals that gateways withhold. Throws where the facts can't be read. */
export interface RemovalVerifier {
  verify(frontends: readonly WithheldFrontend[], signal: AbortSignal): Promise<RemovalVerdict>;
}

export interface ClusterRemovalVerifierOptions {
  readonly client: KubeClient;
  readonly keeper: Pick<PortKeeper, 'ports' | 'isHeld'>;
  readonly clock: Clock;
  /** The UID of the cluster that the controller was started for, where it is known. */
  readonly expectedCluster: string | undefined;
}

const limitMs = 30_000;

/**
 * Reads the Services and the cluster's UID from the API server itself: a controller that was restarted
 * remembers no deletion, and one whose cache is wrong must not confirm what the cache says.
 */
export class ClusterRemovalVerifier implements RemovalVerifier {
  readonly #options: ClusterRemovalVerifierOptions;

  constructor(options: ClusterRemovalVerifierOptions) {
    this.#options = options;
  }

  async verify(
    frontends: readonly WithheldFrontend[],
    signal: AbortSignal,
  ): Promise<RemovalVerdict> {
    const { client, keeper, clock, expectedCluster } = this.#options;
    const read = await withDeadline(clock, limitMs, signal, 'verifying removals', (inner) =>
      readFacts(client, inner),
    );
    return verifyRemovals(frontends, {
      ...read,
      expectedCluster,
      ports: keeper.ports(),
      isHeld: (address, port) => keeper.isHeld(address, port),
    });
  }
}

async function readFacts(client: KubeClient, signal: AbortSignal) {
  const all: Service[] = [];
  for await (const service of client.list(services, { signal })) all.push(service);
  // After the list: an API server that was replaced in between is noticed.
  const system = await client.find(namespaces, { name: 'kube-system' }, { signal });
  return { services: all, cluster: system?.metadata?.uid };
}
