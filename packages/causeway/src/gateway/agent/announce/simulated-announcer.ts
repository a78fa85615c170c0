import net from 'node:net';
import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { Loop } from '@causeway/base/work/supervisor';
import { listen } from '@causeway/base/network/listen';
import type { Announcer, AnnouncerStatus, WithdrawalCause } from './announcer.ts';
import { RoleStatus, type RoleListener } from './role-status.ts';
import { Withdrawals } from './withdrawals.ts';

export interface SimulatedAnnouncerOptions {
  /** The same name for all simulated gateways of a group on one machine. */
  readonly group: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** About the failover time of a real announcer with its default settings. */
const checkEveryMs = 300;

/**
 * Announces nothing, and elects the active gateway among the processes of one machine: the process that holds
 * the name of the group is active. The name is an abstract socket without a file, so it is released as soon as
 * its holder dies.
 */
export class SimulatedAnnouncer implements Announcer {
  readonly network = undefined;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #status: RoleStatus;
  readonly #withdrawals = new Withdrawals();
  readonly #queue = new SerialQueue();
  #addresses: ReadonlySet<Address> = new Set();
  #held: net.Server | undefined;
  #isDrained = false;

  constructor({ group, clock, log, metrics }: SimulatedAnnouncerOptions) {
    this.#name = `\0causeway-active-${group}`;
    this.#clock = clock;
    this.#status = new RoleStatus(clock, log, metrics);
  }

  announced(): Promise<ReadonlySet<Address>> {
    return Promise.resolve(this.#addresses);
  }

  test(): Promise<void> {
    return Promise.resolve();
  }

  announce(addresses: ReadonlySet<Address>): Promise<void> {
    this.#addresses = new Set(addresses);
    return Promise.resolve();
  }

  withdraw(addresses: ReadonlySet<Address>): Promise<void> {
    return this.announce(this.#addresses.difference(addresses));
  }

  withdrawAll(cause: WithdrawalCause, reason: string): Promise<void> {
    this.#withdrawals.add(cause, reason);
    return Promise.resolve();
  }

  resume(cause: WithdrawalCause): Promise<void> {
    this.#withdrawals.remove(cause);
    return Promise.resolve();
  }

  status(): AnnouncerStatus {
    const { role, since, reason } = this.#status;
    return { role, since, reason };
  }

  onChange(listener: RoleListener): void {
    this.#status.onChange(listener);
  }

  missing(): Promise<ReadonlySet<Address>> {
    return Promise.resolve(new Set());
  }

  async drain(): Promise<void> {
    this.#isDrained = true;
    await this.#queue.run(() => this.#elect());
  }

  loops(): Record<string, Loop> {
    return { 'simulated role': (signal) => this.#run(signal) };
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.#queue.run(() => this.#elect());
        await sleep(this.#clock, checkEveryMs, signal).catch(() => undefined);
      }
    } finally {
      await this.#queue.run(() => this.#release());
    }
  }

  async #elect(): Promise<void> {
    const reason = this.#isDrained ? 'the announcer has ended' : this.#withdrawals.reason;
    if (reason !== undefined) {
      await this.#release();
      this.#status.enter('unable', reason);
      return;
    }
    this.#held ??= await hold(this.#name);
    this.#status.enter(this.#held === undefined ? 'standby' : 'active');
  }

  async #release(): Promise<void> {
    const server = this.#held;
    if (server === undefined) return;
    this.#held = undefined;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }
}

/** Undefined when another process holds the name. */
async function hold(name: string): Promise<net.Server | undefined> {
  const server = net.createServer((visitor) => visitor.destroy());
  try {
    await listen(server, { path: name });
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw CausewayError.from(error);
  }
}
