import type { RemovedEndpoint } from '@causeway/nftables/compile/layout-change';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';

/** The kernel's connection table, as far as a proxy maintains it. */
export interface ConnectionTable {
  forget(removed: readonly RemovedEndpoint[], signal?: AbortSignal): Promise<number>;
  deleteStaleEntries(services: readonly VirtualService[], signal?: AbortSignal): Promise<number>;
}

/** Changes of a transaction that affect existing connections. */
export interface ChangedPaths {
  readonly removedEndpoints: readonly RemovedEndpoint[];
  /** The current targets of changed Services. */
  readonly served: readonly VirtualService[];
  /** The previous state is not known, as after a start. */
  readonly isFirst: boolean;
}

/**
 * Deletes UDP conntrack entries that the new rules would send elsewhere. Such an entry does not expire while
 * a client keeps sending, so the client would keep reaching a deleted pod. TCP connections to a removed
 * endpoint may continue until the pod ends them (for attempts see {@link forgetUnanswered}). Attempts that
 * were unanswered when the proxy started are deleted; the client's next attempt follows the new rules.
 * Returns the number of deleted entries.
 */
export async function forgetStaleConnections(
  table: ConnectionTable,
  { removedEndpoints, served, isFirst }: ChangedPaths,
  signal: AbortSignal,
): Promise<number> {
  const removed = removedEndpoints.filter(({ endpoint }) => endpoint?.protocol === 'UDP');
  const stale = served.filter((service) => mayHaveStaleEntries(service, isFirst));
  return (await table.forget(removed, signal)) + (await table.deleteStaleEntries(stale, signal));
}

function mayHaveStaleEntries({ protocol, dispatch }: VirtualService, isFirst: boolean): boolean {
  switch (protocol) {
    case 'UDP':
      // A held Service has no pods, as after a restart while it is idle, so every entry leads to a deleted
      // pod.
      return dispatch.kind === 'slots' || dispatch.kind === 'hold';
    case 'TCP':
      // Attempts of this machine itself have an entry although the listener of an ended proxy did not accept
      // them. Later on, an attempt that is just being answered would be among them.
      return isFirst;
    default:
      return false;
  }
}

/**
 * Deletes attempts of TCP clients that removed endpoints have not answered. The pod is gone, and the client's
 * next packet would be sent there again. Call this after running endpoints have had time to answer.
 */
export function forgetUnanswered(
  table: ConnectionTable,
  removedEndpoints: readonly RemovedEndpoint[],
  signal: AbortSignal,
): Promise<number> {
  const tried = removedEndpoints.filter(({ endpoint }) => endpoint?.protocol === 'TCP');
  return table.forget(
    tried.map((removed) => ({ ...removed, isStillThere: true })),
    signal,
  );
}
