import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { AddressPairWriter } from './address-pair-writer.ts';
import type { AgentFleet } from '../fleet/agent-fleet.ts';
import type { GatewayStanding } from '../fleet/gateway-standing.ts';
import { planFences, type FenceAction, type FenceStanding } from './fence-plan.ts';
import type { PortKeeper } from '../ports/port-keeper.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';

export interface FencingOptions {
  readonly pairWriter: AddressPairWriter;
  readonly keeper: PortKeeper;
  readonly fleet: AgentFleet;
  /** The gateways that an operator wants fenced. */
  readonly askedFor: () => ReadonlySet<string>;
  /** A gateway is fenced if it has not answered for this long while an address waits for it. */
  readonly fenceAfterMs: number;
  /** How long an address is not reused if a fenced gateway may still believe to have it. */
  readonly restMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the fact that fences or open addresses have changed. */
  readonly reasons: ReasonSink;
}

/**
 * Opens addresses for the gateways that serve them, and blocks them on gateways that can't be asked to remove
 * them. A dead gateway must not block every deletion forever, and a partitioned gateway must never announce
 * another owner's address.
 */
export class Fencing {
  readonly #options: FencingOptions;
  readonly #runner: BoundedFrequencyRunner;
  /** Addresses that only fenced gateways may still believe to have, with the start of their quarantine. */
  readonly #resting = new Map<Address, number>();
  /** The last logged state of each gateway's port. */
  readonly #said = new Map<string, string>();
  /** Why some addresses of a gateway can't be opened. */
  readonly #refusals = new Map<string, string>();
  /** The addresses of Causeway's ports, to detect deletions by other programs. */
  readonly #known = new Set<Address>();
  /** What makes a fence ineffective, by gateway. Logged once. */
  readonly #holes = new Map<string, string>();

  constructor(options: FencingOptions) {
    const { clock, log } = options;
    this.#options = options;
    this.#runner = new BoundedFrequencyRunner({
      name: 'fencing',
      run: (signal) => this.#tend(signal),
      minIntervalMs: 100,
      burst: 3,
      maxIntervalMs: 10_000,
      retryMs: 2_000,
      clock,
      log,
    });
  }

  /**
   * Reads the state of the gateways' ports: before any decision, and at intervals, because changes cause no
   * notification. Restores what was removed.
   */
  async check(signal: AbortSignal): Promise<void> {
    const { pairWriter, log } = this.#options;
    for (const { gateway, isFine, text } of await pairWriter.inspect(signal)) {
      if (this.#said.get(gateway) === text) continue;
      this.#said.set(gateway, text);
      log[isFine ? 'info' : 'warn']({ gateway }, text);
    }
    this.#runner.request();
  }

  /** Requests a run after a change that can affect fences. */
  request(): void {
    this.#runner.request();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#runner.loop(signal);
  }

  /** The answering gateways that the network does not let use one of these addresses yet. */
  notLetThrough(addresses: Iterable<Address>): readonly string[] {
    const { pairWriter, fleet } = this.#options;
    const all = [...addresses];
    return fleet
      .standings()
      .filter(({ downForMs, isFenced }) => downForMs === undefined && !isFenced)
      .filter(({ name }) => all.some((address) => !pairWriter.isOpen(name, address)))
      .map(({ name }) => name);
  }

  /** Why the network does not let these gateways use their addresses, if known. */
  whyNot(gateways: readonly string[]): string | undefined {
    return gateways.map((name) => this.#refusals.get(name)).find((why) => why !== undefined);
  }

  /** Whether an unused address can be released: no gateway can announce it, and its quarantine has ended. */
  mayGo(address: Address): boolean {
    const { fleet, clock, restMs } = this.#options;
    if (fleet.mayAnnounce(address).length > 0) {
      this.#resting.delete(address);
      return false;
    }
    if (fleet.isOnlyFenced(address)) {
      const since = this.#resting.get(address) ?? clock.monotonic();
      this.#resting.set(address, since);
      if (clock.monotonic() - since < restMs) return false;
    }
    return true;
  }

  /** Blocks the address on every gateway, right before its release. */
  async letGo(address: Address, signal: AbortSignal): Promise<void> {
    const { pairWriter, fleet } = this.#options;
    if (pairWriter.grain === 'address') {
      for (const { name } of fleet.standings()) await pairWriter.shut(name, [address], signal);
    }
    this.#resting.delete(address);
    this.#known.delete(address);
  }

  /** Handles ports that other programs deleted: their addresses may already belong to another owner. */
  async #letGoOfLost(signal: AbortSignal): Promise<void> {
    const present = new Set(this.#options.keeper.addresses());
    for (const address of this.#known) {
      if (!present.has(address)) await this.letGo(address, signal);
    }
    for (const address of present) this.#known.add(address);
  }

  async #tend(signal: AbortSignal): Promise<void> {
    const { pairWriter, fleet, fenceAfterMs, askedFor } = this.#options;
    const failures: CausewayError[] = [];
    // A failure for one gateway must not delay the others.
    const attempt = async (work: Promise<unknown>) => {
      const known = await work.then(
        () => undefined,
        (thrown: unknown) => CausewayError.from(thrown),
      );
      if (known === undefined) return;
      if (signal.aborted) throw known;
      failures.push(known);
    };
    await attempt(this.#letGoOfLost(signal));
    for (const action of planFences(this.#standings(), pairWriter.grain, fenceAfterMs)) {
      await attempt(this.#act(action, signal));
    }
    for (const { name, isCurrent, isFenced } of fleet.standings()) {
      if (isFenced) await attempt(this.#keepShut(name, signal));
      else if (isCurrent && !askedFor().has(name)) await this.#open(name, signal);
    }
    const [first] = failures;
    if (first !== undefined) throw first;
  }

  /** Another program may have opened addresses of a gateway that is still fenced. */
  async #keepShut(gateway: string, signal: AbortSignal): Promise<void> {
    const { pairWriter, keeper } = this.#options;
    const all = keeper.addresses();
    if (!pairWriter.canShut(gateway) || !all.some((address) => pairWriter.isOpen(gateway, address)))
      return;
    await this.#shut(gateway, all, signal);
  }

  #standings(): FenceStanding[] {
    const { fleet, keeper, pairWriter } = this.#options;
    const asked = this.#options.askedFor();
    const blocks = new Map<string, Set<Address>>();
    for (const { address } of keeper.unused()) {
      for (const name of fleet.mayAnnounce(address)) {
        blocks.set(name, (blocks.get(name) ?? new Set()).add(address));
      }
    }
    return fleet.standings().map((standing: GatewayStanding) => ({
      ...standing,
      isAskedFor: asked.has(standing.name),
      canBeShut: pairWriter.canShut(standing.name),
      blocks: blocks.get(standing.name) ?? new Set<Address>(),
    }));
  }

  async #act(action: FenceAction, signal: AbortSignal): Promise<void> {
    const { fleet, keeper, log, reasons } = this.#options;
    const { gateway } = action;
    switch (action.kind) {
      case 'fence':
        if (!(await this.#shut(gateway, [...keeper.addresses()], signal))) return;
        fleet.fence(gateway);
        log.warn({ gateway, because: action.because }, 'fenced the gateway');
        break;
      case 'take':
        if (!(await this.#shut(gateway, [...action.addresses], signal))) return;
        fleet.fence(gateway, action.addresses);
        log.warn({ gateway, addresses: [...action.addresses] }, 'blocked addresses of the gateway');
        break;
      case 'lift':
        // Opens as many as fit. Services of the others wait and show the reason.
        if (!(await this.#open(gateway, signal))) return;
        fleet.unfence(gateway);
        log.info({ gateway }, 'lifted the fence');
        break;
    }
    reasons.add({ kind: 'fences-changed' });
  }

  /**
   * Whether the gateway can't use these addresses now. If nothing can be blocked, an operator's fence is the
   * promise that the gateway is off.
   */
  async #shut(gateway: string, addresses: readonly Address[], signal: AbortSignal) {
    const { pairWriter, log, askedFor } = this.#options;
    await pairWriter.shut(gateway, addresses, signal);
    const because = pairWriter.leftOpen(gateway, addresses);
    const isPromised = askedFor().has(gateway) && !pairWriter.canShut(gateway);
    if (because === undefined || isPromised) {
      this.#holes.delete(gateway);
      return true;
    }
    if (this.#holes.get(gateway) !== because) {
      log.warn({ gateway, because }, 'could not fence the gateway');
    }
    this.#holes.set(gateway, because);
    return false;
  }

  /** Logs a failure; the waiting Services show it too. Returns whether as many addresses as fit are open. */
  async #open(gateway: string, signal: AbortSignal): Promise<boolean> {
    const { pairWriter, keeper, fleet, log, reasons } = this.#options;
    const missing = [...keeper.addressesInUse()].filter(
      (each) => !pairWriter.isOpen(gateway, each),
    );
    let failure: CausewayError | undefined;
    if (missing.length > 0) {
      failure = await pairWriter.open(gateway, missing, signal).then(
        () => undefined,
        (thrown: unknown) => CausewayError.from(thrown),
      );
    }
    if (failure !== undefined && signal.aborted) throw failure;
    if (failure === undefined) this.#refusals.delete(gateway);
    else {
      if (this.#refusals.get(gateway) !== failure.message) {
        log.warn({ gateway, error: failure }, "could not open the gateway's port");
      }
      this.#refusals.set(gateway, failure.message);
    }
    const opened = missing.filter((each) => pairWriter.isOpen(gateway, each));
    if (opened.length > 0) {
      fleet.unfence(gateway, opened);
      reasons.add({ kind: 'fences-changed' });
    }
    return failure === undefined || failure.code === 'exhausted';
  }
}
