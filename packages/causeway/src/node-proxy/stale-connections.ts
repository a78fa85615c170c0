import type { RemovedEndpoint } from '@causeway/nftables/compile/layout-change';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';

/** The kernel's table of connections, as far as a proxy has to keep it. */
export interface ConnectionTable {
  forget(removed: readonly RemovedEndpoint[], signal?: AbortSignal): Promise<number>;
  deleteStaleEntries(services: readonly VirtualService[], signal?: AbortSignal): Promise<number>;
}

/** What a transaction has changed for connections that are under way. */
export interface ChangedPaths {
  readonly removedEndpoints: readonly RemovedEndpoint[];
  /** What changed Services ask for now. */
  readonly served: readonly VirtualService[];
  /** What was before is not known, as after a start. */
  readonly isFirst: boolean;
}

/**
 * Forgets UDP flows that the new rules would place elsewhere: a flow never ends, so a client that keeps
 * sending would keep reaching a pod that is gone, or nothing. A TCP connection to a removed endpoint may
 * go on until its pod ends it (for tries see {@link forgetUnanswered}); what nobody had answered when the
 * proxy started is placed anew with the client's next try. Answers how many there were.
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
      // Where nothing is served, as after a restart while it sleeps, every flow leads to a pod of before.
      return dispatch.kind === 'slots' || dispatch.kind === 'hold';
    case 'TCP':
      // Tries of this machine itself are remembered although the listener of a dead proxy did not take them.
      // Later on, one that is being answered at this moment would be among them.
      return isFirst;
    default:
      return false;
  }
}

/**
 * Forgets tries of TCP clients that removed endpoints have not answered: the pod is gone, and the client's
 * next packet would be led there again. To be called when whoever is there has answered.
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
