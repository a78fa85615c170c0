import type { Service } from '../kube/core-objects.ts';
import type { EndpointSlice } from '../kube/network-objects.ts';
import { keyOf } from '../kube/object.ts';
import type { Driver } from '../nftables/driver.ts';
import { LayoutWriter } from '../nftables/layout-writer.ts';
import type { LayoutSettings, ServiceKey, VirtualService } from '../nftables/virtual-service.ts';
import { BoundedFrequencyRunner } from '../runtime/bounded-frequency-runner.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { AddressClaims, type Target } from './address-claims.ts';
import type { Diversion, DivertibleProxy, ServedService } from './service-proxy.ts';
import { SliceIndex } from './slice-index.ts';
import { translateService, type NodeContext } from './translate-service.ts';

export interface BaseProxyOptions {
  readonly driver: Driver;
  readonly layout: LayoutSettings;
  readonly node: NodeContext;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often rules may be written, and are looked at when nothing happens. */
export interface Pace {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** A run that comes right after a quiet time need not wait. */
const burst = 2;
const retryMs = 1000;

/**
 * Serves Services from this node: what it is told becomes rules, one transaction for all that changed
 * since the last one. A changed Service costs what that Service is worth.
 */
export class BaseProxy implements DivertibleProxy {
  readonly #options: BaseProxyOptions;
  readonly #services = new Map<string, Service>();
  readonly #slices = new SliceIndex();
  readonly #diversions = new Map<string, Diversion>();
  /** Those that the rules were last made with. */
  readonly #diverted = new Map<string, Diversion>();
  readonly #writer: LayoutWriter;
  readonly #runner: BoundedFrequencyRunner;
  readonly #listeners = new Set<(served: readonly ServedService[]) => void>();
  readonly #synced = Promise.withResolvers<void>();
  #claims = new AddressClaims();
  #changed = new Set<string>();
  /** The kernel may hold something else than we think: everything is compared and put right. */
  #isInDoubt = true;

  constructor(options: BaseProxyOptions) {
    this.#options = options;
    this.#writer = new LayoutWriter(options.driver, options.layout);
    this.#runner = new BoundedFrequencyRunner({
      name: 'service proxy',
      run: (signal) => this.#sync(signal),
      ...options.pace,
      burst,
      retryMs,
      clock: options.clock,
      log: options.log,
    });
  }

  setService(service: Service): void {
    const key = keyOf(service);
    this.#services.set(key, service);
    this.#touch(key);
  }

  removeService(key: string): void {
    if (this.#services.delete(key)) this.#touch(key);
  }

  setSlice(slice: EndpointSlice): void {
    for (const service of this.#slices.set(slice)) this.#touch(service);
  }

  removeSlice(key: string): void {
    const service = this.#slices.remove(key);
    if (service !== undefined) this.#touch(service);
  }

  divert(service: string, diversion: Diversion | undefined): void {
    if (diversion === undefined) this.#diversions.delete(service);
    else this.#diversions.set(service, diversion);
    this.#touch(service);
  }

  synced(): void {
    this.#synced.resolve();
  }

  onCommit(listener: (served: readonly ServedService[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes rules until the signal fires. They stay. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => stopped.resolve(), { once: true });
    await Promise.race([this.#synced.promise, stopped.promise]);
    this.#runner.request();
    await this.#runner.loop(signal);
  }

  #touch(service: string): void {
    this.#changed.add(service);
    this.#runner.request();
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const changed = this.#changed;
    this.#changed = new Set();
    const wasInDoubt = this.#isInDoubt;
    this.#isInDoubt = true;
    try {
      await (wasInDoubt ? this.#writeAll(signal) : this.#writeChanged(changed, signal));
      this.#isInDoubt = false;
    } finally {
      // What was not written is all written next time.
      if (this.#isInDoubt) for (const service of changed) this.#changed.add(service);
    }
    this.#tell(wasInDoubt ? new Set([...this.#services.keys(), ...changed]) : changed);
  }

  async #writeAll(signal: AbortSignal): Promise<void> {
    this.#claims = new AddressClaims();
    for (const service of this.#services.keys()) this.#translate(service);
    await this.#writer.replaceAll({ services: [...this.#claims.all()] }, signal);
  }

  async #writeChanged(changed: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const set = new Map<ServiceKey, VirtualService>();
    const remove = new Set<ServiceKey>();
    for (const service of changed) {
      const change = this.#translate(service);
      for (const [key, virtual] of change.set) {
        set.set(key, virtual);
        remove.delete(key);
      }
      for (const key of change.remove) {
        set.delete(key);
        remove.add(key);
      }
    }
    await this.#writer.commit({ set: [...set.values()], remove: [...remove] }, signal);
  }

  #translate(key: string) {
    const service = this.#services.get(key);
    const diversion = this.#diversions.get(key);
    if (diversion === undefined) this.#diverted.delete(key);
    else this.#diverted.set(key, diversion);
    const targets = service === undefined ? [] : this.#targets(key, service, diversion);
    const created = service?.metadata?.creationTimestamp ?? '';
    return this.#claims.replace({ service: key, created, targets });
  }

  #targets(key: string, service: Service, diversion: Diversion | undefined): readonly Target[] {
    const { node, log } = this.#options;
    const slices = this.#slices.of(key);
    const { targets, problems } = translateService({ service, slices, diversion, node });
    for (const problem of problems) log.warn({ service: key, problem }, 'left out of a Service');
    return targets;
  }

  #tell(changed: Iterable<string>): void {
    if (this.#listeners.size === 0) return;
    const served = [...changed].map(
      (service): ServedService => ({
        service,
        diversion: this.#diverted.get(service),
        targets: this.#claims.held(service),
      }),
    );
    for (const listener of this.#listeners) listener(served);
  }
}
