import type {
  Acknowledgement,
  OlderRecord,
  WithheldRecord,
} from '../../../protocol/acknowledgement.ts';
import { UpdateRejected } from '../../../agent/apply/admit.ts';
import { AgentRefused } from '../../../protocol/agent-client.ts';
import type { RemovalConfirmation } from '../../../protocol/removal-confirmation.ts';
import type { AgentStatus } from '../../../protocol/agent-status.ts';
import {
  frontendKey,
  parseFrontendKey,
  type Frontend,
  type FrontendKey,
} from '../../../protocol/frontend.ts';
import type { GatewayNode } from '../../../protocol/node.ts';
import type { Assignment, Policy } from '../../../protocol/policy.ts';
import type { Role } from '../../../protocol/role.ts';
import { UpdateReader, type Update } from '../../../protocol/update.ts';
import { revisions, type Revisions } from '../../../protocol/revision.ts';
import { formatFrontendId, type FrontendIdRecord } from '../../../protocol/records.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { AgentClient, PinClient } from '../agent-client-contract.ts';

/**
 * An agent that accepts every newer update, unless it is set to fail, hang, be frozen or keep something. In
 * the mode `mute` it applies updates, and the caller must drop its answers.
 */
export class MemoryAgent implements AgentClient {
  readonly pushes: Update[] = [];
  readonly holds = new Map<FrontendKey, Frontend>();
  readonly policies = new Map<string, Policy>();
  readonly assignments = new Map<string, Assignment>();
  readonly nodes = new Map<string, GatewayNode>();
  generation = 0;
  mode: 'works' | 'fails' | 'hangs' | 'mute' = 'works';
  /** Rejects every push, and answers everything else. */
  isFrozen = false;
  /** Withholds the removals of an update with more removals than this. */
  mayLose = Number.POSITIVE_INFINITY;
  /** An older version rejects such an update as a whole, unless its header confirms the removal. */
  isOlderVersion = false;
  /** The withheld removals. */
  readonly withholds = new Set<FrontendKey>();
  /** The cluster that the agent serves, and the received confirmations. */
  cluster: string | undefined;
  readonly confirmations: RemovalConfirmation[] = [];
  #lastTaken = '';
  /** The backends that the agent found unhealthy, and those it received as unhealthy. */
  sees: readonly string[] = [];
  handed: readonly string[] | undefined;
  /** Frontends that the agent rejects. */
  readonly dislikes = new Set<string>();
  /** The requests about pins; undefined for an older version. */
  pins?: PinClient;
  role: Role = 'standby';
  alarms: readonly string[] = [];
  seed: string | undefined;
  /** The protocol revisions of its version. */
  revisions: Revisions = revisions;
  #changed = Promise.withResolvers<void>();
  keeps: { address: string; protocol: 'TCP'; port: number } | undefined;

  async status(signal: AbortSignal): Promise<AgentStatus> {
    await this.#suffer(signal);
    return this.#describe();
  }

  async *events(signal: AbortSignal): AsyncGenerator<AgentStatus> {
    const aborted = whenAborted(signal);
    while (!signal.aborted) {
      await this.#suffer(signal);
      const changed = this.#changed.promise;
      yield this.#describe();
      await Promise.race([changed, aborted]);
    }
  }

  /** The last notice whether another gateway can serve; undefined before the first one. */
  relief: boolean | undefined;

  sendRelief(isAvailable: boolean): Promise<void> {
    this.relief = isAvailable;
    return Promise.resolve();
  }

  async sendUnhealthy(unhealthy: Iterable<string>, signal: AbortSignal): Promise<void> {
    await this.#suffer(signal);
    this.handed = [...unhealthy].sort();
  }

  async counters(signal: AbortSignal): Promise<readonly FrontendIdRecord[]> {
    await this.#suffer(signal);
    return [...this.holds.values()].map(formatFrontendId);
  }

  /** Sends a new status to the readers of its stream, or ends the stream if the agent fails. */
  sendStatus(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #describe(): AgentStatus {
    const unhealthy = { heard: 3, seen: this.sees, acted: [] };
    const { generation, role, alarms } = this;
    const withheld = this.isOlderVersion ? {} : { withheld: this.#withheld() };
    const rest = {
      ...(this.seed === undefined ? {} : { seed: this.seed }),
      older: this.#older(),
      errors: [],
      alarms,
      frozen: null,
      drained: null,
      sound: true,
    };
    return {
      generation,
      frontends: this.holds.size,
      announcer: { role, since: null, reason: null },
      unhealthy,
      revisions: this.revisions,
      ...(this.pins === undefined ? {} : { pins: { epoch: 'memory', count: 0 } }),
      ...withheld,
      ...rest,
    } as unknown as AgentStatus;
  }

  async push(lines: Iterable<string>, signal: AbortSignal): Promise<Acknowledgement> {
    await this.#suffer(signal);
    const reader = new UpdateReader(this.revisions);
    const text = [...lines];
    for (const line of text) reader.line(line.trimEnd());
    const push = reader.result();
    this.#refuse(push, text.join(''));
    this.#lastTaken = text.join('');
    this.pushes.push(push);
    const isWhole = push.header.kind === 'state';
    const kept = this.#withhold(push);
    merge(this.holds, isWhole, push.removedFrontends, push.frontends);
    for (const [key, frontend] of kept) this.holds.set(key, frontend);
    merge(this.policies, isWhole, push.removedPolicies, push.policies);
    merge(this.assignments, isWhole, push.removedAssignments, push.assignments);
    merge(this.nodes, isWhole, push.removedNodes, push.nodes);
    this.generation = push.header.generation;
    const errors = [...push.frontends.values()]
      .filter((frontend) => this.dislikes.has(frontendKey(frontend)))
      .map((frontend) => ({
        frontend: formatFrontendId(frontend),
        errors: [{ record: 1, message: 'rejected by the test' }],
      }));
    return { ...this.#acknowledge(), errors };
  }

  async confirmRemovals(
    confirmation: RemovalConfirmation,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    await this.#suffer(signal);
    const { generation, cluster, frontends } = confirmation;
    if (this.isFrozen) throw new UpdateRejected('frozen', 'frozen', 'Thaw it first.');
    if (generation !== this.generation) {
      throw new UpdateRejected('base-mismatch', 'another generation', 'Verify again.');
    }
    if (this.cluster !== undefined && cluster !== this.cluster) {
      throw new UpdateRejected('another-cluster', 'of another cluster', 'Allow the removal.');
    }
    this.confirmations.push(confirmation);
    for (const key of this.withholds.intersection(frontends)) {
      this.withholds.delete(key);
      this.holds.delete(key);
    }
    return { ...this.#acknowledge(), errors: [] };
  }

  /** Simulates an operator's permission of all withheld removals. */
  allowRemovals(): void {
    for (const key of this.withholds) this.holds.delete(key);
    this.withholds.clear();
    this.sendStatus();
  }

  /**
   * Decides which removals to withhold after the update. Returns the frontends that are still served for
   * them.
   */
  #withhold(push: Update): Map<FrontendKey, Frontend> {
    const { header } = push;
    const lost = [...this.holds.keys()].filter((key) => isLost(push, key));
    const isLarge = lost.length > this.mayLose && !header.meansRemoval;
    if (isLarge || header.withholdRemovals) {
      for (const key of lost) this.withholds.add(key);
    }
    for (const key of this.withholds) {
      if (push.frontends.has(key) || header.meansRemoval) this.withholds.delete(key);
    }
    if (this.withholds.size === 0 || this.cluster === undefined) this.cluster = header.cluster;
    return new Map([...this.holds].filter(([key]) => this.withholds.has(key)));
  }

  #acknowledge(): Omit<Acknowledgement, 'errors'> {
    const withheld = this.isOlderVersion ? {} : { withheld: this.#withheld() };
    return { generation: this.generation, committed: true, older: this.#older(), ...withheld };
  }

  #withheld(): WithheldRecord[] {
    return [...this.withholds].map((key) => ({
      ...formatFrontendId(parseFrontendKey(key)),
      generation: 1,
      reason: 'withheld',
      service: this.holds.get(key)?.service,
    }));
  }

  #older(): OlderRecord[] {
    const { keeps } = this;
    const broken = keeps === undefined ? [] : [{ ...keeps, generation: 1, reason: 'broken' }];
    return [...broken, ...this.#withheld()];
  }

  /** Checks an update like the real agent. A repeated update is accepted and changes nothing. */
  #refuse(push: Update, text: string): void {
    const { header } = push;
    if (this.isFrozen) throw new UpdateRejected('frozen', 'frozen', 'Thaw it first.');
    if (header.generation === this.generation && text === this.#lastTaken) return;
    if (header.generation <= this.generation) {
      throw new UpdateRejected('stale', 'not newer', 'Send a larger generation.');
    }
    if (header.kind === 'delta' && header.base !== this.generation) {
      throw new UpdateRejected('base-mismatch', 'another base', 'Send the full state.');
    }
    const lost = [...this.holds.keys()].filter((key) => isLost(push, key));
    if (this.isOlderVersion && lost.length > this.mayLose && !header.meansRemoval) {
      throw new AgentRefused(409, 'mass-removal', 'too many removals', 'Confirm the removal.');
    }
  }

  #suffer(signal: AbortSignal): Promise<void> {
    if (this.mode === 'fails') return Promise.reject(new CausewayError('unavailable', 'no route'));
    if (this.mode !== 'hangs') return Promise.resolve();
    return new Promise((_resolve, reject) => {
      const giveUp = () => reject(CausewayError.from(signal.reason));
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

function isLost({ header, frontends, removedFrontends }: Update, key: FrontendKey): boolean {
  return header.kind === 'delta' ? removedFrontends.has(key) : !frontends.has(key);
}

function merge<Value>(
  map: Map<string, Value>,
  isWhole: boolean,
  removed: ReadonlySet<string>,
  set: ReadonlyMap<string, Value>,
): void {
  if (isWhole) map.clear();
  for (const key of removed) map.delete(key);
  for (const [key, value] of set) map.set(key, value);
}
