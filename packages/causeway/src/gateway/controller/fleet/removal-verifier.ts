import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { frontendFromService } from '../../../services/frontend-from-service.ts';
import { ownerKey, type FrontendSpec } from '../../../services/frontend-spec.ts';
import { namespaces, services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { runTogether } from '@causeway/base/work/run-together';
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
  return { owners, cluster: await readCluster(client, signal) };
}

/** Undefined without the permission. An agent that knows its cluster then accepts no confirmation. */
async function readCluster(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.find(namespaces, { name: 'kube-system' }, { signal }))?.metadata?.uid;
  } catch (error) {
    if (isErrorCode(error, 'forbidden')) return undefined;
    throw error;
  }
}

/** Requests for single Services at the same time. */
const readers = 8;

/**
 * Reads each Service of a withheld frontend that the list lacks. Throws if the API server has one of them: then
 * the list is wrong, and proves nothing about the others either.
 */
async function checkList(
  client: KubeClient,
  frontends: readonly WithheldFrontend[],
  listed: readonly FrontendSpec[],
  signal: AbortSignal,
): Promise<void> {
  const missing = new Set(frontends.flatMap(({ service }) => service ?? []));
  for (const { owner } of listed) missing.delete(ownerKey(owner));
  await runTogether(missing, readers, async (key) => {
    const found = await client.find(services, nameFromKey(key), { signal });
    if (found === undefined) return;
    throw new CausewayError(
      'conflict',
      `the API server's list of Services lacks ${key}, although the API server has it`,
    );
  });
}
