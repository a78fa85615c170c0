import { CausewayError } from '@causeway/base/error/causeway-error';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { Allocator } from './allocator.ts';
import { authorise, type Caller, type Grant } from './credential.ts';
import { findCluster, findSite, put } from './decision.ts';
import { keys } from './keys.ts';
import type { Write } from './ledger.ts';
import type { ClusterRecord } from './records.ts';

export interface HeartbeatRequest {
  readonly site: string;
  readonly cluster: string;
  /** The cluster's promise to stop announcing this long after the heartbeat. */
  readonly withdrawsAfterMs?: number | undefined;
}

export type HeartbeatAnswer = {
  /** If it differs from the previous epoch, the cluster was reclaimed and lost its earlier addresses. */
  readonly epoch: string;
  readonly addresses: number;
  readonly selfWithdrawal: ClusterRecord['selfWithdrawal'];
};

/** Number of heartbeats in a transaction, well below the ledger's limit. */
const largestBatch = 100;

interface Beat {
  readonly site: string;
  readonly cluster: string;
  readonly write: Write;
}

/** Writes heartbeats in batches: those that arrive during a transaction share the next one. */
export class Heartbeats {
  readonly #allocator: Allocator;
  #gathering: { beats: Map<string, Beat>; done: Promise<void> } | undefined;
  readonly #writes = new SerialQueue();

  constructor(allocator: Allocator) {
    this.#allocator = allocator;
  }

  /**
   * Answers from a view that has the heartbeat. A reclaim compares the heartbeat's key. Either the reclaim
   * came first, and the answer has the new epoch, or it finds the heartbeat and leaves the cluster unchanged.
   */
  async beat(
    caller: Caller,
    { site, cluster, withdrawsAfterMs }: HeartbeatRequest,
    signal: AbortSignal,
  ): Promise<HeartbeatAnswer> {
    const needs = { kind: 'cluster', site, cluster } as const;
    const grant = await this.#letIn(caller, needs, signal);
    await this.#settleFirstUse(caller, needs, grant, signal);
    const { record } = findCluster(findSite(this.#allocator.view, site).view, cluster);
    const beat = { id: record.id, at: this.#allocator.now, withdrawsAfterMs };
    const write = put(keys.beat(site, cluster), beat);
    await this.#send({ site, cluster, write }, signal);
    authorise(this.#allocator.view, caller, needs, this.#allocator.now);
    const now = findSite(this.#allocator.view, site).view;
    const living = findCluster(now, cluster).record;
    return {
      epoch: living.epoch,
      addresses: now.heldBy(living.epoch).size,
      selfWithdrawal: living.selfWithdrawal,
    };
  }

  /**
   * Authorizes from memory if the view has the credential, else after a barrier: the credential may be very
   * new.
   */
  async #letIn(
    caller: Caller,
    needs: Parameters<typeof authorise>[2],
    signal: AbortSignal,
  ): Promise<Grant> {
    const { view, now } = this.#allocator;
    try {
      return authorise(view, caller, needs, now);
    } catch {
      return this.#allocator.read({ caller, needs }, (_view, grant) => grant, signal);
    }
  }

  async #settleFirstUse(
    caller: Caller,
    needs: Parameters<typeof authorise>[2],
    { credential, key }: Grant,
    signal: AbortSignal,
  ): Promise<void> {
    if (credential?.first !== 'unused' || key === undefined) return;
    await this.#allocator.change(
      {
        caller,
        needs,
        queueKey: key,
        // The allocator marks the credential that makes the change.
        decide: () => ({
          kind: 'change',
          reads: [key],
          writes: [],
          audit: {
            action: 'first-contact',
            site: credential.site,
            cluster: credential.cluster,
            detail: { credential: credential.id },
          },
          answer: undefined,
        }),
      },
      signal,
    );
  }

  async #send(beat: Beat, signal: AbortSignal): Promise<void> {
    const key = beat.write.key;
    if (this.#gathering === undefined || this.#gathering.beats.size >= largestBatch) {
      const beats = new Map<string, Beat>();
      const done = this.#writes.run(() => {
        if (this.#gathering?.beats === beats) this.#gathering = undefined;
        const writes = [...beats.values()].map(({ write }) => write);
        return this.#allocator.write(writes, new AbortController().signal);
      });
      this.#gathering = { beats, done };
    }
    this.#gathering.beats.set(key, beat);
    await this.#gathering.done;
    if (signal.aborted) throw new CausewayError('aborted', 'the caller has disconnected');
  }
}
