import type { Clock, Timer } from '@causeway/base/time/clock';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { GuardReport } from './guard-register.ts';
import { isMassLoss } from './mass-loss.ts';
import { asKept, isExcludedNode, isJoiningNode, isReadyNode, type NodeLookup } from './nodes.ts';

/** Nodes that are deleted within this time count together. */
const togetherMs = 60_000;
/** Deleted nodes are kept for this long while other nodes are left. */
const keepDeletedMs = 300_000;
const notifyAfterMs = 1_000;

interface DeletedNode {
  readonly node: Node;
  readonly at: number;
}

/**
 * The guard against a mass loss of nodes. It looks at the Ready conditions and at deletions of nodes that can
 * receive traffic. If more than half of them are not ready, or were deleted within a minute, they keep counting
 * as ready: a failure between kubelets and the API server, or a wrong list, is more likely than their failure.
 * The guard ends when the nodes are ready again. Deleted nodes end after five minutes if others are left.
 */
export class NodeGuard implements NodeLookup {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #nodes = new Map<string, Node>();
  readonly #ready = new Set<string>();
  readonly #notReady = new Set<string>();
  /** Nodes that were ready while this process ran. */
  readonly #known = new Set<string>();
  /** Usable nodes that were deleted recently. */
  readonly #deleted = new Map<string, DeletedNode>();
  #keepsDeleted = false;
  #expiry: Timer | undefined;
  #soon: Timer | undefined;

  /** Calls `onChange` when the guard keeps other nodes than before. */
  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Takes the current state of a node; undefined if it is deleted. */
  set(name: string, node: Node | undefined): void {
    const wasKeeping = this.#isKeeping;
    const before = this.#notReady.has(name) || this.#deleted.has(name);
    this.#take(name, node);
    this.#decideOnDeleted();
    const isLost = this.#notReady.has(name) || this.#deleted.has(name);
    if (this.#isKeeping !== wasKeeping) this.#notify();
    else if (this.#isKeeping && isLost !== before) this.#notifySoon();
  }

  /** The node. It counts as ready if the guard keeps it. */
  get(name: string): Node | undefined {
    const node = this.#nodes.get(name);
    if (node !== undefined) return this.isKept(name) ? asKept(node) : node;
    const deleted = this.#keepsDeleted ? this.#deleted.get(name) : undefined;
    return deleted === undefined ? undefined : asKept(deleted.node);
  }

  *values(): IterableIterator<Node> {
    for (const [name, node] of this.#nodes) yield this.isKept(name) ? asKept(node) : node;
    if (this.#keepsDeleted) for (const { node } of this.#deleted.values()) yield asKept(node);
  }

  /** Whether the node is not ready and keeps counting as ready. */
  isKept(name: string): boolean {
    return this.#keepsNotReady && this.#notReady.has(name);
  }

  /** The report of the guard; undefined while it keeps nothing. */
  get report(): GuardReport | undefined {
    const notReady = this.#keepsNotReady ? this.#notReady.size : 0;
    const deleted = this.#keepsDeleted ? this.#deleted.size : 0;
    if (notReady + deleted === 0) return undefined;
    const all = this.#ready.size + this.#notReady.size;
    const facts = [
      ...(notReady === 0 ? [] : [`${notReady} of ${all} nodes are not ready`]),
      ...(deleted === 0 ? [] : [`${deleted} nodes were deleted at once, and ${all} are left`]),
    ];
    const message = `${facts.join('; ')}. Kubelets or the API server are more likely at fault than all these nodes, so they stay in use, and probes and health monitors decide.`;
    return { held: notReady + deleted, message };
  }

  get #keepsNotReady(): boolean {
    return isMassLoss(this.#notReady.size, this.#ready.size + this.#notReady.size);
  }

  get #isKeeping(): boolean {
    return this.#keepsNotReady || this.#keepsDeleted;
  }

  #notify(): void {
    this.#soon?.cancel();
    this.#soon = undefined;
    this.#onChange();
  }

  /** Many nodes can change within a second, and each call can concern all Services. */
  #notifySoon(): void {
    this.#soon ??= this.#clock.timer(notifyAfterMs, () => this.#notify());
  }

  #take(name: string, node: Node | undefined): void {
    const before = this.#nodes.get(name);
    const wasUsable = this.#ready.has(name) || this.#notReady.has(name);
    this.#ready.delete(name);
    this.#notReady.delete(name);
    if (node === undefined) {
      this.#nodes.delete(name);
      this.#known.delete(name);
      if (before === undefined || !wasUsable) return;
      this.#deleted.set(name, { node: before, at: this.#clock.monotonic() });
      return;
    }
    this.#nodes.set(name, node);
    this.#deleted.delete(name);
    if (isExcludedNode(node)) return;
    if (isReadyNode(node)) {
      this.#ready.add(name);
      this.#known.add(name);
    } else if (this.#known.has(name) || !isJoiningNode(node)) {
      this.#notReady.add(name);
    }
  }

  #decideOnDeleted(): void {
    const now = this.#clock.monotonic();
    const left = this.#ready.size + this.#notReady.size;
    if (!this.#keepsDeleted) {
      for (const [name, { at }] of this.#deleted) {
        if (now - at > togetherMs) this.#deleted.delete(name);
      }
      this.#keepsDeleted = isMassLoss(this.#deleted.size, this.#deleted.size + left);
    } else if (this.#deleted.size === 0) {
      this.#keepsDeleted = false;
    }
    this.#expiry?.cancel();
    this.#expiry = undefined;
    // Without any node left, nothing could be served at all. So the deleted nodes stay until nodes return.
    if (!this.#keepsDeleted || left === 0) return;
    const oldest = Math.min(...[...this.#deleted.values()].map(({ at }) => at));
    this.#expiry = this.#clock.timer(oldest + keepDeletedMs - now, () => this.#expire());
  }

  #expire(): void {
    this.#deleted.clear();
    this.#keepsDeleted = false;
    this.#notify();
  }
}
