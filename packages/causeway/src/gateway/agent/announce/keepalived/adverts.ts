import { parseAddress, type Address } from '@causeway/base/address/address';
import { droppedAdverts, setNames, vrrpPeersSet } from '@causeway/nftables/model/names';
import type { Kernel } from '../../kernel.ts';

const families = [4, 6] as const;

/** The peers of one link and family, and the number of VRRP packets from them. */
export interface HeardPeers {
  readonly peers: readonly Address[];
  readonly packets: bigint;
}

/** The VRRP packets that the rules have counted. */
export class Adverts {
  readonly #kernel: Pick<Kernel, 'counters'>;
  readonly #links: number;

  /** `links` is the number of interfaces that the rules accept VRRP on. */
  constructor(kernel: Pick<Kernel, 'counters'>, links: number) {
    this.#kernel = kernel;
    this.#links = links;
  }

  /** Number of VRRP packets received from peers. */
  async count(signal: AbortSignal): Promise<bigint> {
    let packets = 0n;
    for (let link = 0; link < this.#links; link += 1) {
      for (const family of families) packets += await this.#sum(vrrpPeersSet(link, family), signal);
    }
    return packets;
  }

  /** One entry for each link and family with peers, always in the same order. */
  async heardPeers(signal: AbortSignal): Promise<readonly HeardPeers[]> {
    const heard: HeardPeers[] = [];
    for (let link = 0; link < this.#links; link += 1) {
      for (const family of families) {
        const counters = await this.#kernel.counters(vrrpPeersSet(link, family), signal);
        if (counters.size === 0) continue;
        const packets = [...counters.values()].reduce((sum, count) => sum + count.packets, 0n);
        heard.push({ peers: [...counters.keys()].map(parseAddress), packets });
      }
    }
    return heard;
  }

  /** The peers that no VRRP packet came from. A standby sends none, so this is no fault on its own. */
  async unheardPeers(signal: AbortSignal): Promise<readonly Address[]> {
    const unheard: Address[] = [];
    for (let link = 0; link < this.#links; link += 1) {
      for (const family of families) {
        const peers = await this.#kernel.counters(vrrpPeersSet(link, family), signal);
        for (const [peer, { packets }] of peers) {
          if (packets === 0n) unheard.push(parseAddress(peer));
        }
      }
    }
    return unheard;
  }

  /** Number of VRRP packets with a router ID of this gateway that were dropped because no peer sent them. */
  countForged(signal: AbortSignal): Promise<bigint> {
    return this.#sum(droppedAdverts, signal);
  }

  /** The source addresses of forged adverts in the last minute. */
  async forgedSources(signal: AbortSignal): Promise<readonly Address[]> {
    const found: Address[] = [];
    for (const family of families) {
      const sources = await this.#kernel.counters(setNames.vrrpStrangers(family), signal);
      found.push(...[...sources.keys()].map(parseAddress));
    }
    return found;
  }

  async #sum(set: string, signal: AbortSignal): Promise<bigint> {
    const counters = await this.#kernel.counters(set, signal);
    return [...counters.values()].reduce((sum, { packets }) => sum + packets, 0n);
  }
}
