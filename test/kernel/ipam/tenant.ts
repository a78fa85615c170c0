import { setTimeout as delay } from 'node:timers/promises';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import { freeOnce, listOnce, reserveOnce } from '../../contract/ipam/history.ts';
import type { Allocator } from './ledger-lab.ts';

/** State of one owner at the tenant. `unknown`: the answer to the last call was lost. */
type Knowledge =
  | { readonly state: 'held'; readonly address: string; readonly fencingToken: number }
  | { readonly state: 'free' }
  | { readonly state: 'unknown' };

/** Number of concurrent calls of a tenant. */
const workers = 3;

/** Reserves and releases addresses at one allocator without a pause, and keeps every answer. */
export class Tenant {
  readonly #allocator: Allocator;
  readonly #site: string;
  readonly #owners = new Map<string, Knowledge>();
  readonly #stopped = new AbortController();
  readonly #work: Promise<unknown>;
  acknowledged = 0;
  /** The error codes of the calls that failed. */
  readonly failures = new Set<string>();

  constructor(allocator: Allocator, site: string) {
    this.#allocator = allocator;
    this.#site = site;
    this.#work = Promise.all(
      Array.from({ length: workers }, (_, worker) => this.#runWorker(worker)),
    );
    this.#work.catch(() => undefined);
  }

  /** Rejects with the error if a call had an unexpected result. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work;
  }

  /** Contradictions to the ledger at this allocator, and all its reservations. */
  async compare(by: Allocator): Promise<{ problems: string[]; held: string[] }> {
    const { cluster } = this.#allocator;
    const { listed = {} } = await listOnce(by.client, this.#site, cluster);
    const problems = [...this.#owners].flatMap(([owner, known]) => {
      const address = listed[owner];
      const isRight =
        known.state === 'unknown' ||
        (known.state === 'free' ? address === undefined : address === known.address);
      return isRight ? [] : [`${cluster}/${owner}: ${JSON.stringify(known)} but ${address}`];
    });
    return { problems, held: Object.values(listed) };
  }

  async #runWorker(worker: number): Promise<void> {
    for (let turn = 0; !this.#stopped.signal.aborted; turn += 1) {
      const owner = `owner-${worker}-${turn % 4}`;
      try {
        await this.#step(owner);
        this.acknowledged += 1;
      } catch (error) {
        const { code } = CausewayError.from(error);
        this.#owners.set(owner, { state: 'unknown' });
        this.failures.add(code);
      }
      await delay(20);
    }
  }

  async #step(owner: string): Promise<void> {
    const { client, cluster } = this.#allocator;
    const known = this.#owners.get(owner);
    if (known?.state === 'held') {
      const { result } = await freeOnce(client, this.#site, cluster, owner, known.fencingToken);
      if (result !== 'freed') throw new Error(`${owner} got ${result}`);
      this.#owners.set(owner, { state: 'free' });
      return;
    }
    const { result, address, fencingToken } = await reserveOnce(client, this.#site, cluster, owner);
    if (result !== 'held' || address === undefined || fencingToken === undefined) {
      throw new Error(`${owner} got ${result}`);
    }
    this.#owners.set(owner, { state: 'held', address, fencingToken });
  }
}
