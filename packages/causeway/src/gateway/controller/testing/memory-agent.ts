import type {
  Acknowledgement,
  OlderRecord,
  WithheldRecord,
} from '../../protocol/acknowledgement.ts';
import { UpdateRejected } from '../../agent/apply/admit.ts';
import { AgentRefused } from '../../protocol/agent-client.ts';
import type { RemovalConfirmation } from '../../protocol/removal-confirmation.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import {
  endpointKey,
  parseEndpointKey,
  type Endpoint,
  type EndpointKey,
} from '../../protocol/endpoint.ts';
import type { Assignment, Policy } from '../../protocol/policy.ts';
import { UpdateReader, type Update } from '../../protocol/update.ts';
import { revisions, type Revisions } from '../../protocol/revision.ts';
import { formatEndpointId, type EndpointIdRecord } from '../../protocol/records.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { AgentClient } from '../agent-client-contract.ts';

/**
 * An agent that takes whatever is newer, unless told to fail, to hang, to be frozen or to keep something. A
 * mute one does what it is told, and its answers get lost on the way: that is up to who carries them.
 */
export class MemoryAgent implements AgentClient {
  readonly pushes: Update[] = [];
  readonly holds = new Map<EndpointKey, Endpoint>();
  readonly policies = new Map<string, Policy>();
  readonly assignments = new Map<string, Assignment>();
  generation = 0;
  mode: 'works' | 'fails' | 'hangs' | 'mute' = 'works';
  /** Takes no push, and answers everything else. */
  isFrozen = false;
  /** Withholds the removals of an update that has more of them than this. */
  mayLose = Number.POSITIVE_INFINITY;
  /** An older version rejects such an update as a whole, unless it says that it means it. */
  isOlderVersion = false;
  /** The removals that it withholds. */
  readonly withholds = new Set<EndpointKey>();
  /** The cluster that it serves, and those that confirmed removals. */
  cluster: string | undefined;
  readonly confirmations: RemovalConfirmation[] = [];
  #lastTaken = '';
  /** Whom it sees as silent, and who it was told is. */
  sees: readonly string[] = [];
  handed: readonly string[] | undefined;
  /** Endpoints that it complains about when they are pushed. */
  readonly dislikes = new Set<string>();
  vrrp = 'BACKUP';
  alarms: readonly string[] = [];
  /** What its version understands. */
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

  async sendUnhealthy(unhealthy: Iterable<string>, signal: AbortSignal): Promise<void> {
    await this.#suffer(signal);
    this.handed = [...unhealthy].sort();
  }

  async counters(signal: AbortSignal): Promise<readonly EndpointIdRecord[]> {
    await this.#suffer(signal);
    return [...this.holds.values()].map(formatEndpointId);
  }

  /** Tells those who follow its status that it has changed, or ends what they read if it fails. */
  tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #describe(): AgentStatus {
    const unhealthy = { heard: 3, seen: this.sees, acted: [] };
    const { generation, vrrp, alarms } = this;
    const withheld = this.isOlderVersion ? {} : { withheld: this.#withheld() };
    const rest = {
      older: this.#older(),
      errors: [],
      alarms,
      frozen: null,
      drained: null,
      sound: true,
    };
    return {
      generation,
      endpoints: this.holds.size,
      vrrp: { state: vrrp, since: null },
      unhealthy,
      revisions: this.revisions,
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
    merge(this.holds, isWhole, push.removedEndpoints, push.endpoints);
    for (const [key, endpoint] of kept) this.holds.set(key, endpoint);
    merge(this.policies, isWhole, push.removedPolicies, push.policies);
    merge(this.assignments, isWhole, push.removedAssignments, push.assignments);
    this.generation = push.header.generation;
    const errors = [...push.endpoints.values()]
      .filter((endpoint) => this.dislikes.has(endpointKey(endpoint)))
      .map((endpoint) => ({
        endpoint: formatEndpointId(endpoint),
        errors: [{ record: 1, message: 'not to my taste' }],
      }));
    return { ...this.#acknowledge(), errors };
  }

  async confirmRemovals(
    confirmation: RemovalConfirmation,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    await this.#suffer(signal);
    const { generation, cluster, endpoints } = confirmation;
    if (this.isFrozen) throw new UpdateRejected('frozen', 'frozen', 'Thaw it first.');
    if (generation !== this.generation) {
      throw new UpdateRejected('base-mismatch', 'another generation', 'Verify again.');
    }
    if (this.cluster !== undefined && cluster !== this.cluster) {
      throw new UpdateRejected('another-cluster', 'of another cluster', 'Allow the removal.');
    }
    this.confirmations.push(confirmation);
    for (const key of this.withholds.intersection(endpoints)) {
      this.withholds.delete(key);
      this.holds.delete(key);
    }
    return { ...this.#acknowledge(), errors: [] };
  }

  /** An operator allows all removals that it withholds. */
  allowRemovals(): void {
    for (const key of this.withholds) this.holds.delete(key);
    this.withholds.clear();
    this.tell();
  }

  /** Decides what is withheld after the update; answers with what is served on for that. */
  #withhold(push: Update): Map<EndpointKey, Endpoint> {
    const { header } = push;
    const lost = [...this.holds.keys()].filter((key) => isLost(push, key));
    if (lost.length > this.mayLose && !header.meansRemoval) {
      for (const key of lost) this.withholds.add(key);
    }
    for (const key of this.withholds) {
      if (push.endpoints.has(key) || header.meansRemoval) this.withholds.delete(key);
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
      ...formatEndpointId(parseEndpointKey(key)),
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

  /** As the agent does. One that was taken already is taken again, and changes nothing. */
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
      throw new AgentRefused(409, 'mass-removal', 'too much would go', 'Say that it is meant.');
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

function isLost({ header, endpoints, removedEndpoints }: Update, key: EndpointKey): boolean {
  return header.kind === 'delta' ? removedEndpoints.has(key) : !endpoints.has(key);
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
