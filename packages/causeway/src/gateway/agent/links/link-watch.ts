import fs from 'node:fs/promises';
import { z } from 'zod';
import type { Address, Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { Alarms } from '../alarms.ts';
import {
  followLink,
  linkRecord,
  restoringCommands,
  type LinkRecord,
  type LostFromLink,
} from './link-record.ts';
import { networkIn, type NetworkTexts, type NetworkView } from './read-links.ts';

export const linkMetrics = {
  restored: {
    kind: 'counter',
    name: 'causeway_agent_link_restored_total',
    help: 'Routes and addresses that a link lost when it went down, and that the agent restored.',
    labels: ['what'],
  },
} as const satisfies Record<string, MetricDefinition>;

/** A link of the gateway, with the addresses that it needs there. */
export interface WatchedLink {
  readonly name: string;
  readonly own: readonly Address[];
}

export interface LinkWatchOptions {
  readonly links: readonly WatchedLink[];
  /**
   * Kept until the machine reboots, so that an agent that restarts during an outage knows the lost routes.
   */
  readonly file: string;
  /** Restores lost addresses and routes of a link that went down. */
  readonly restores: boolean;
  /** A missing default route that existed before means that clients get no answers. */
  readonly needsDefaultRoute: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly alarms: Pick<Alarms, 'set'>;
  /** Families in which clients are served now. */
  servedFamilies(): ReadonlySet<Family>;
  readNetwork(signal: AbortSignal): Promise<NetworkTexts>;
  runIp(args: readonly string[], signal: AbortSignal): Promise<unknown>;
}

const everyMs = 1_000;

const storedRecords = z.object({
  links: z.record(z.string(), linkRecord),
  defaults: z.array(z.union([z.literal(4), z.literal(6)])),
});

/**
 * Detects that the gateway can't answer clients because of its links, routes or addresses, and restores lost
 * addresses and routes of a link that went down.
 */
export class LinkWatch {
  readonly #options: LinkWatchOptions;
  readonly #records = new Map<string, LinkRecord>();
  readonly #defaults = new Set<Family>();
  readonly #restored;
  #written = '';
  #illness: string | undefined;

  constructor(options: LinkWatchOptions) {
    this.#options = options;
    this.#restored = options.metrics.counter(linkMetrics.restored);
  }

  /** Why this gateway can't answer clients although its links are up; undefined if it can. */
  get illness(): string | undefined {
    return this.#illness;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    await this.load();
    while (!signal.aborted) {
      try {
        await this.check(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ error: CausewayError.from(error) }, "the links can't be read");
      }
      await sleep(clock, everyMs, signal);
    }
  }

  /** Reads the record of an earlier run. A file that can't be read is ignored. */
  async load(): Promise<void> {
    const { file, log } = this.#options;
    try {
      this.#written = await fs.readFile(file, 'utf8').catch(() => '');
      if (this.#written === '') return;
      const stored = storedRecords.parse(JSON.parse(this.#written));
      for (const [name, record] of Object.entries(stored.links)) this.#records.set(name, record);
      for (const family of stored.defaults) this.#defaults.add(family);
    } catch (error) {
      log.warn({ file, error: CausewayError.from(error) }, "the record of the links can't be read");
    }
  }

  /** Checks the links once, and restores lost addresses and routes. */
  async check(signal: AbortSignal): Promise<void> {
    let view = await this.#read(signal);
    let lost = this.#follow(view);
    if (this.#options.restores && lost.size > 0) {
      await this.#restore(lost, signal);
      view = await this.#read(signal);
      lost = this.#follow(view);
    }
    const down = this.#options.links.filter(({ name }) => view.links.get(name)?.isUp !== true);
    const names = down.map(({ name }) => name).join(', ');
    this.#options.alarms.set(
      'link-down',
      down.length === 0 ? undefined : `this gateway serves nothing: ${names} is down`,
    );
    // The announcer gives up the addresses while a link is down, and takes part again when it is up.
    this.#illness = down.length > 0 ? undefined : this.#whyNotAnswering(view, lost);
    await this.#store();
  }

  async #read(signal: AbortSignal): Promise<NetworkView> {
    const { links } = this.#options;
    const own = new Set(links.flatMap((link) => link.own));
    const names = links.map(({ name }) => name);
    return networkIn(await this.#options.readNetwork(signal), names, (each) => own.has(each));
  }

  #follow(view: NetworkView): Map<string, LostFromLink> {
    const lost = new Map<string, LostFromLink>();
    for (const [name, link] of view.links) {
      const next = followLink(this.#records.get(name), link);
      if (next.record !== undefined) this.#records.set(name, next.record);
      if (next.lost.routes.length + next.lost.addresses.length > 0) lost.set(name, next.lost);
    }
    for (const family of view.defaults) this.#defaults.add(family);
    return lost;
  }

  async #restore(lost: ReadonlyMap<string, LostFromLink>, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    for (const [link, { routes, addresses }] of lost) {
      for (const command of restoringCommands(link, { routes, addresses })) {
        try {
          await this.#options.runIp(command, signal);
          const what = command.includes('route') ? 'route' : 'address';
          this.#restored.add({ what });
          log.warn(
            { link, command: command.join(' ') },
            'restored an address or route that the link lost',
          );
        } catch (error) {
          if (signal.aborted) throw error;
          log.error(
            { link, error: CausewayError.from(error) },
            "an address or route that the link lost can't be restored",
          );
        }
      }
    }
  }

  #whyNotAnswering(view: NetworkView, lost: ReadonlyMap<string, LostFromLink>): string | undefined {
    for (const { name, own } of this.#options.links) {
      const missing = own.find((address) => view.present.get(name)?.has(address) !== true);
      if (missing !== undefined)
        return `the gateway's own address ${missing} is missing on ${name}`;
    }
    for (const [name, { routes, addresses }] of lost) {
      const what = routes[0] === undefined ? addresses[0] : `the route ${routes[0].words}`;
      return `${name} lost ${what} when it went down`;
    }
    if (!this.#options.needsDefaultRoute) return undefined;
    for (const family of this.#options.servedFamilies()) {
      if (!this.#defaults.has(family) || view.defaults.has(family)) continue;
      return `the IPv${family} default route is missing, so clients get no answers`;
    }
    return undefined;
  }

  #text(): string {
    const links = Object.fromEntries(this.#records);
    return JSON.stringify({ links, defaults: [...this.#defaults] });
  }

  async #store(): Promise<void> {
    const text = this.#text();
    if (text === this.#written) return;
    await replaceFile(this.#options.file, text);
    this.#written = text;
  }
}
