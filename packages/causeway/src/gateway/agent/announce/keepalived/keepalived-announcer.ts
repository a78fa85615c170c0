import fs from 'node:fs/promises';
import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Loop } from '@causeway/base/work/supervisor';
import { whyUnservable, type ServableAddresses } from '../../apply/servable.ts';
import type { Alarms } from '../../alarms.ts';
import type { Kernel } from '../../kernel.ts';
import type {
  Announcer,
  AnnouncerNetwork,
  AnnouncerStatus,
  WithdrawalCause,
} from '../announcer.ts';
import { probeTcp } from '../../probe/tcp-probe.ts';
import { AnnouncedAddresses } from './announced-addresses.ts';
import { readHostAddresses, removeHostAddresses } from './link-addresses.ts';
import { Adverts } from './adverts.ts';
import { enterState, faultReason } from './enter-state.ts';
import { keepalivedLoops } from './loops.ts';
import { makeFifo } from './notify.ts';
import { KeepalivedProcess, type StartMode } from './process.ts';
import { readServedAddresses, renderKeepalived } from './render.ts';
import { takeoverMs, vrrpFilter, vrrpPeers, type KeepalivedSettings } from './vrrp-networks.ts';
import { RoleStatus, type RoleListener } from '../role-status.ts';
import { Withdrawals } from '../withdrawals.ts';

export interface KeepalivedAnnouncerOptions {
  readonly settings: KeepalivedSettings;
  /** Addresses that can be announced with these settings. Others are left out. */
  readonly servable: ServableAddresses;
  readonly start: StartMode;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly kernel: Pick<Kernel, 'counters'>;
  /** File with the list of announced addresses, kept until the machine reboots. */
  readonly announcedFile: string;
}

/** Time limit for keepalived, extended for each address: 4,000 addresses took about 2 s on a busy machine. */
const verifyLimitMs = 5_000;
const verifyLimitMsEach = 5;
const pollMs = 20;
const greetMs = 300;
const patientRounds = 25;

/** Moves addresses with keepalived: renders, tests and replaces its file, reloads it, and checks the link. */
export class KeepalivedAnnouncer implements Announcer {
  readonly process: KeepalivedProcess;
  readonly #options: KeepalivedAnnouncerOptions;
  readonly #announced: AnnouncedAddresses;
  readonly #status: RoleStatus;
  readonly #adverts: Adverts;
  readonly #withdrawals = new Withdrawals();
  #wanted: ReadonlySet<Address> = new Set();
  #isDrained = false;

  private constructor(options: KeepalivedAnnouncerOptions, announced: AnnouncedAddresses) {
    this.#options = options;
    this.#announced = announced;
    this.#status = new RoleStatus(options.clock, options.log, options.metrics);
    this.#adverts = new Adverts(options.kernel, vrrpFilter(options.settings).links.length);
    this.process = new KeepalivedProcess(options.settings.files, options.start, options.clock);
  }

  static async open(
    options: KeepalivedAnnouncerOptions,
    signal: AbortSignal,
  ): Promise<KeepalivedAnnouncer> {
    const { files } = options.settings;
    await makeFifo(files.notifyFifo, signal);
    await fs.appendFile(files.fault, '');
    const announcer = new KeepalivedAnnouncer(
      options,
      await AnnouncedAddresses.load(options.announcedFile, options.log),
    );
    const state = await announcer.stateOnLink(signal);
    if (state !== undefined) enterState(announcer.#status, state);
    return announcer;
  }

  /** Whether this gateway should hold the address while it is active. */
  isMeant(address: Address): boolean {
    return this.#wanted.has(address) || this.#ownAddresses().has(address);
  }

  async announced(): Promise<ReadonlySet<Address>> {
    const text = await readIfThere(this.#options.settings.files.config);
    return new Set(readServedAddresses(text)).difference(this.#ownAddresses());
  }

  async test(all: ReadonlySet<Address>, signal: AbortSignal): Promise<void> {
    const addresses = this.#announceable(all);
    const candidate = `${this.#options.settings.files.config}.candidate`;
    await fs.writeFile(candidate, this.#render(addresses), { mode: 0o600 });
    try {
      await this.process.test(candidate, signal);
    } finally {
      await fs.rm(candidate, { force: true });
    }
  }

  async announce(all: ReadonlySet<Address>, signal: AbortSignal): Promise<void> {
    const { config } = this.#options.settings.files;
    const addresses = this.#announceable(all);
    const text = this.#render(addresses);
    const isSame = (await readIfThere(config)) === text;
    // An agent that stopped between the file write and the reload left keepalived with another configuration.
    const isLoaded = isSame && (await readIfThere(loadedFile(config))) === text;
    await this.#announced.add(addresses.union(this.#ownAddresses()));
    this.#wanted = addresses;
    if (!isSame) await replaceFile(config, text);
    if (!(await this.process.isRunning())) await this.start(signal);
    else if (!isLoaded) await this.process.reload();
    if (!isLoaded) await fs.writeFile(loadedFile(config), text, { mode: 0o600 });
    await this.#verify(signal);
  }

  /**
   * Starts keepalived after the peers have learned this machine's link-layer address. Otherwise adverts would
   * still go to the address from before a restart, and a gateway that receives no adverts takes over.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#options;
    const port = parsePort(1);
    await Promise.all(
      vrrpPeers(settings).map((address) => probeTcp(clock, { address, port }, greetMs, signal)),
    );
    await this.process.start(signal);
  }

  async withdraw(addresses: ReadonlySet<Address>, signal: AbortSignal): Promise<void> {
    await this.announce((await this.announced()).difference(addresses), signal);
  }

  async withdrawAll(cause: WithdrawalCause, reason: string): Promise<void> {
    this.#withdrawals.add(cause, reason);
    await this.#setFault(true);
    // keepalived reports no change if an earlier process of the agent has set the fault.
    if (this.#status.role === 'standby') enterState(this.#status, 'FAULT');
  }

  async resume(cause: WithdrawalCause): Promise<void> {
    this.#withdrawals.remove(cause);
    await this.#setFault(!this.#withdrawals.isEmpty);
  }

  status(): AnnouncerStatus {
    const { role, since, reason } = this.#status;
    const isFault = reason === faultReason;
    return { role, since, reason: isFault ? (this.#withdrawals.reason ?? reason) : reason };
  }

  onChange(listener: RoleListener): void {
    this.#status.onChange(listener);
  }

  get isDrained(): boolean {
    return this.#isDrained;
  }

  async drain(signal: AbortSignal): Promise<void> {
    this.#isDrained = true;
    await this.process.stop(signal);
    enterState(this.#status, 'STOP');
  }

  loops(alarms: Alarms): Record<string, Loop> {
    const [status, adverts] = [this.#status, this.#adverts];
    return keepalivedLoops({ ...this.#options, announcer: this, status, adverts, alarms });
  }

  get network(): AnnouncerNetwork {
    const { networks } = this.#options.settings;
    const links = new Map<string, Address[]>();
    for (const { interface: name, families } of networks) {
      links.set(name, [...(links.get(name) ?? []), ...families.map(({ source }) => source)]);
    }
    return {
      links: [...links].map(([name, own]) => ({ name, own })),
      families: new Set(networks.flatMap((each) => each.families.map(({ family }) => family))),
      hasPeers: vrrpPeers(this.#options.settings).length > 0,
      takeoverMs: takeoverMs(this.#options.settings),
      countPeerSigns: (signal) => this.#adverts.count(signal),
    };
  }

  /** With a fault, keepalived gives up its addresses. */
  async #setFault(isFaulty: boolean): Promise<void> {
    // Replaces a single byte, so that keepalived never reads a partial value.
    const file = await fs.open(this.#options.settings.files.fault, 'r+');
    try {
      await file.write(isFaulty ? '1' : '0', 0);
    } finally {
      await file.close();
    }
  }

  /**
   * Addresses of this gateway that are on a link and that no keepalived manages. A running keepalived manages
   * all addresses of its configuration: only keepalived knows when it holds them.
   */
  async findOrphans(signal: AbortSignal): Promise<Map<string, Set<Address>>> {
    const isRunning = await this.process.isRunning();
    const answeredFor = isRunning ? this.#wanted.union(this.#ownAddresses()) : new Set<Address>();
    const orphans = new Map<string, Set<Address>>();
    for (const link of this.#links()) {
      const present = await readHostAddresses(link, signal);
      const left = present.intersection(this.#announced.all).difference(answeredFor);
      if (left.size > 0) orphans.set(link, left);
    }
    return orphans;
  }

  async removeOrphans(
    orphans: ReadonlyMap<string, ReadonlySet<Address>>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const [link, addresses] of orphans) {
      this.#options.log.warn({ link, count: addresses.size }, 'removing orphaned addresses');
      await removeHostAddresses(link, addresses, signal);
    }
  }

  async missing(signal: AbortSignal): Promise<Set<Address>> {
    if (!this.#status.isActive) return new Set();
    const present = new Set<Address>();
    for (const link of this.#links()) {
      for (const address of await readHostAddresses(link, signal)) present.add(address);
    }
    return this.#wanted.difference(present);
  }

  /**
   * Updates with other addresses are rejected, but the settings may have changed since an update was
   * accepted.
   */
  #announceable(addresses: ReadonlySet<Address>): Set<Address> {
    const { servable } = this.#options;
    return new Set([...addresses].filter((each) => whyUnservable(servable, each) === undefined));
  }

  #render(addresses: ReadonlySet<Address>): string {
    return renderKeepalived(this.#options.settings, addresses);
  }

  async #verify(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const limitMs = verifyLimitMs + this.#wanted.size * verifyLimitMsEach;
    await withDeadline(clock, limitMs, signal, 'keepalived', async (limit) => {
      for (let round = 0; ; round += 1) {
        if (!(await this.process.isRunning())) {
          throw new CausewayError('unavailable', 'keepalived ended when it was reloaded');
        }
        const unwanted = await this.findOrphans(limit);
        if (unwanted.size === 0 && (await this.missing(limit)).size === 0) break;
        // A new keepalived doesn't know the addresses that a dead one left on the link.
        if (round === patientRounds) await this.removeOrphans(unwanted, limit);
        await sleep(clock, pollMs, limit);
      }
    });
    const meant = this.#wanted.union(this.#ownAddresses());
    await this.#announced.remove(this.#announced.all.difference(meant));
  }

  /**
   * The state according to the link: the gateway that holds the anchors is master. Used when only the agent
   * restarts and keepalived sends no notification. Undefined while keepalived doesn't run.
   */
  async stateOnLink(signal: AbortSignal): Promise<'MASTER' | 'BACKUP' | undefined> {
    if (!(await this.process.isRunning())) return undefined;
    for (const network of this.#options.settings.networks) {
      const present = await readHostAddresses(network.interface, signal);
      if (!network.families.every((family) => present.has(family.anchor))) return 'BACKUP';
    }
    return 'MASTER';
  }

  #ownAddresses(): Set<Address> {
    return new Set(
      this.#options.settings.networks.flatMap((network) =>
        network.families.flatMap((family) => [family.anchor, ...family.routes]),
      ),
    );
  }

  get linkNames(): readonly string[] {
    return [...this.#links()];
  }

  #links(): Set<string> {
    return new Set(this.#options.settings.networks.map((network) => network.interface));
  }
}

/** Copy of the configuration that keepalived loaded last. */
function loadedFile(config: string): string {
  return `${config}.loaded`;
}

function readIfThere(file: string): Promise<string> {
  return fs.readFile(file, 'utf8').catch(() => '');
}
