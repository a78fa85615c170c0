import { annotationsOf, hasIdledAt, holdAnnotation } from '../../idling/annotations.ts';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { Clock, Timer } from '@causeway/base/time/clock';
import { isReplayedAfter, readinessOf } from '../port-diversion.ts';
import type { DivertibleProxy, Holding, ServedService, ServiceProxy } from '../served-service.ts';
import { SliceIndex } from '../slice-index.ts';
import { decideSwitch } from './decide-switch.ts';

export interface IdleSwitchOptions {
  readonly inner: DivertibleProxy;
  /** Selects how connections to an idle Service are held. */
  readonly holdingFor: (service: Service, way: HoldingWay) => Holding;
  readonly graceMs: number;
  readonly clock: Clock;
}

export type HoldingWay = 'park' | 'accept';

interface Held {
  readonly way: HoldingWay;
  /** The Service of the diversion; another Service of the same name gets its own. */
  readonly service: Service;
  timer?: Timer;
}

/**
 * External connections keep their address for this long after a Service was switched to its endpoints. In
 * this time the gateways switch to pods, and delete their entries for nodes that do not answer. An entry for
 * a node that answered at that moment would be deleted, too.
 */
const replayMs = 10_000;

/**
 * Stands before the base proxy and diverts idle Services to the holder. A diversion is sent together with the
 * change that caused it, so both sides of the switch are in one transaction.
 */
export class IdleSwitch implements ServiceProxy {
  readonly #options: IdleSwitchOptions;
  readonly #services = new Map<string, Service>();
  readonly #slices = new SliceIndex();
  readonly #held = new Map<string, Held>();
  /** Services with the idle annotation (undefined), and those that lost it recently, with the time. */
  readonly #marks = new Map<string, number | undefined>();
  /** Services with packets that are being replayed. The timer is set once the kernel serves the Service. */
  readonly #replaying = new Map<string, Timer | undefined>();

  #isEnding = false;

  constructor(options: IdleSwitchOptions) {
    this.#options = options;
    options.inner.onCommit((served) => this.#onCommit(served));
  }

  setService(service: Service): void {
    const key = keyOf(service);
    this.#services.set(key, service);
    this.#options.inner.setService(service);
    this.#judge(key);
  }

  removeService(key: string): void {
    this.#services.delete(key);
    this.#options.inner.removeService(key);
    this.#judge(key);
  }

  setSlice(slice: EndpointSlice): void {
    const affected = this.#slices.set(slice);
    this.#options.inner.setSlice(slice);
    for (const key of affected) this.#judge(key);
  }

  removeSlice(key: string): void {
    const service = this.#slices.remove(key);
    this.#options.inner.removeSlice(key);
    if (service !== undefined) this.#judge(service);
  }

  synced(): void {
    this.#options.inner.synced();
  }

  /** Another way of holding became available: diverts a held Service again. */
  divertAnew(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#options.inner.divert(key, this.#options.holdingFor(held.service, held.way));
  }

  /** The proxy is about to end: accepts no more connections. Returns the Services that are parked instead. */
  parkAccepted(): string[] {
    this.#isEnding = true;
    const accepted = [...this.#held].filter(([, { way }]) => way === 'accept');
    for (const [key, held] of accepted) this.#hold(key, held.service, held);
    return accepted.map(([key]) => key);
  }

  #judge(key: string): void {
    const { clock, graceMs } = this.#options;
    const service = this.#services.get(key);
    const held = this.#held.get(key);
    held?.timer?.cancel();
    if (service === undefined) {
      this.#marks.delete(key);
      if (held !== undefined || this.#replaying.has(key)) this.#serve(key);
      return;
    }
    const isMarked = hasIdledAt(service);
    const now = clock.monotonic();
    const unmarkedAt = this.#unmarkedAt(key, isMarked, now);
    if (!isMarked && unmarkedAt === undefined && held === undefined) return;
    const { hasAll, hasAny } = readinessOf(service, this.#slices.of(key));
    const decision = decideSwitch({ isMarked, isReady: hasAll, unmarkedAt, now, graceMs });
    if (decision.kind === 'serve') {
      if (held !== undefined && hasAny && isReplayedAfter(held.way, service)) this.#replay(key);
      else if (held !== undefined) this.#serve(key);
      return;
    }
    const kept = this.#hold(key, service, held);
    if (decision.kind === 'hold-until') {
      kept.timer = clock.timer(decision.time - now, () => this.#judge(key));
    }
  }

  #unmarkedAt(key: string, isMarked: boolean, now: number): number | undefined {
    if (isMarked) this.#marks.set(key, undefined);
    if (isMarked || !this.#marks.has(key)) return undefined;
    const since = this.#marks.get(key) ?? now;
    if (now - since < this.#options.graceMs) this.#marks.set(key, since);
    else this.#marks.delete(key);
    return since;
  }

  #hold(key: string, service: Service, held: Held | undefined): Held {
    const isAccepted = !this.#isEnding && annotationsOf(service)[holdAnnotation] === 'accept';
    const way = isAccepted ? 'accept' : 'park';
    const isSame = held?.way === way && samePorts(held.service, service);
    if (held !== undefined && isSame) return held;
    const fresh: Held = { way, service };
    this.#held.set(key, fresh);
    this.#endReplay(key);
    this.#options.inner.divert(key, this.#options.holdingFor(service, way));
    return fresh;
  }

  #serve(key: string): void {
    this.#held.delete(key);
    this.#endReplay(key);
    this.#options.inner.divert(key, undefined);
  }

  #replay(key: string): void {
    this.#held.delete(key);
    this.#replaying.set(key, undefined);
    this.#options.inner.divert(key, { kind: 'replay' });
  }

  #endReplay(key: string): void {
    this.#replaying.get(key)?.cancel();
    this.#replaying.delete(key);
  }

  #onCommit(served: readonly ServedService[]): void {
    for (const { service, diversion } of served) {
      if (diversion?.kind !== 'replay' || !this.#replaying.has(service)) continue;
      if (this.#replaying.get(service) !== undefined) continue;
      const timer = this.#options.clock.timer(replayMs, () => this.#serve(service));
      this.#replaying.set(service, timer);
    }
  }
}

function samePorts(left: Service, right: Service): boolean {
  if (left === right) return true;
  const ports = ({ spec }: Service) =>
    JSON.stringify((spec?.ports ?? []).map(({ protocol, port }) => [protocol ?? 'TCP', port]));
  return left.metadata?.uid === right.metadata?.uid && ports(left) === ports(right);
}
