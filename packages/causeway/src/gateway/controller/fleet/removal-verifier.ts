import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { frontendFromService } from '../../../services/frontend-from-service.ts';
import { ownerKey, type FrontendSpec } from '../../../services/frontend-spec.ts';
import { namespaces, services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { verifyRemovals } from './verify-removals.ts';
import type { PortKeeper } from '../ports/port-keeper.ts';
import type { RemovalVerdict, WithheldFrontend } from './withheld-removals.ts';

/** Verifies removals that gateways withhold. Throws if the facts can't be read. */
export interface RemovalVerifier {
  verify(frontends: readonly WithheldFrontend[], signal: AbortSignal): Promise<RemovalVerdict>;
}

export interface ClusterRemovalVerifierOptions {
  readonly client: KubeClient;
  readonly keeper: Pick<PortKeeper, 'ports' | 'isHeld'>;
  readonly clock: Clock;
  /** The UID of the cluster at the controller's start, if known. */
  readonly expectedCluster: string | undefined;
}

const limitMs = 30_000;

/**
 * Reads the Services and the cluster's UID from the API server itself. A restarted controller has no record
 * of deletions, and a wrong cache must not confirm a removal.
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
      readFacts(client, frontends, inner),
    );
    return verifyRemovals(frontends, {
      ...read,
      expectedCluster,
      ports: keeper.ports(),
      isHeld: (address, port) => keeper.isHeld(address, port),
    });
  }
}

async function readFacts(
  client: KubeClient,
  frontends: readonly WithheldFrontend[],
  signal: AbortSignal,
) {
  const owners: FrontendSpec[] = [];
  for await (const service of client.list(services, { signal })) {
    owners.push(frontendFromService(service));
  }
  await checkList(client, frontends, owners, signal);
  // Read after the list, to detect an API server that was replaced in between.
  const system = await client.find(namespaces, { name: 'kube-system' }, { signal });
  return { owners, cluster: system?.metadata?.uid };
}

/** Services that a list lacks and that are read one by one. */
const largestSample = 5;

/** Throws if the list lacks a Service of a withheld frontend that the API server has. */
async function checkList(
  client: KubeClient,
  frontends: readonly WithheldFrontend[],
  listed: readonly FrontendSpec[],
  signal: AbortSignal,
): Promise<void> {
  const missing = new Set(frontends.flatMap(({ service }) => service ?? []));
  for (const { owner } of listed) missing.delete(ownerKey(owner));
  for (const key of [...missing].slice(0, largestSample)) {
    const found = await client.find(services, nameFromKey(key), { signal });
    if (found === undefined) continue;
    throw new CausewayError(
      'conflict',
      `the API server's list of Services lacks ${key}, although the API server has it`,
    );
  }
}
