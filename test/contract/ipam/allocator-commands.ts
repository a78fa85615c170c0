import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import type { Allocator } from '../../../packages/causeway/src/ipam/allocator.ts';
import {
  createCluster,
  reclaimCluster,
  removeCluster,
} from '../../../packages/causeway/src/ipam/cluster-decisions.ts';
import type { Decide } from '../../../packages/causeway/src/ipam/decision.ts';
import { sweep } from '../../../packages/causeway/src/ipam/maintenance-decisions.ts';
import { demandSchema, poolSpecSchema } from '../../../packages/causeway/src/ipam/records.ts';
import { Refusal } from '../../../packages/causeway/src/ipam/refusal.ts';
import { free } from '../../../packages/causeway/src/ipam/release.ts';
import { reserve } from '../../../packages/causeway/src/ipam/reserve.ts';
import { drainPool, setPool } from '../../../packages/causeway/src/ipam/site-decisions.ts';
import { addressNumber, type SiteModel } from './allocator-model.ts';
import { never } from './server-under-test.ts';

/** The allocator under test, at one site of its ledger, with a clock that only tests move. */
export interface Real {
  readonly allocator: Allocator;
  readonly site: string;
  setTime(now: number): void;
}

type Command = fc.AsyncCommand<SiteModel, Real>;

export function run<T>({ allocator, site }: Real, decide: Decide<T>): Promise<T> {
  const needs = { kind: 'operator' } as const;
  return allocator.change({ caller: 'system', needs, queueKey: site, decide }, never);
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof Refusal ? error.reason : Promise.reject(error as Error)),
  );

class Reserve implements Command {
  readonly cluster: string;
  readonly uid: string;
  readonly name: string | undefined;
  constructor(cluster: string, uid: string, name: string | undefined) {
    this.cluster = cluster;
    this.uid = uid;
    this.name = name;
  }
  check = () => true;
  toString = () => `reserve ${this.cluster}/${this.uid} ${this.name ?? ''}`;

  async run(model: SiteModel, real: Real): Promise<void> {
    const { cluster, uid, name } = this;
    const service = name === undefined ? {} : { namespace: 'n', name };
    const demand = demandSchema.parse({ uid, purpose: 'load-balancer', families: [4], ...service });
    const answer = run(real, reserve({ site: real.site, cluster, demand }));
    const owner = `${cluster}/${uid}`;
    const before = model.held.get(owner);
    const kept = model.keptFor(cluster, name);
    const candidates = kept.length > 0 ? new Set(kept) : model.allocatable();
    if (before === undefined && candidates.size === 0) {
      expect(await reasonOf(answer)).toBe('pool-exhausted');
      return;
    }
    if (before === undefined && model.holdings(cluster).length >= model.quota) {
      expect(await reasonOf(answer)).toBe('quota');
      return;
    }
    const result = await answer;
    if (result.state !== 'held') throw new Error('no request is waiting');
    const { addresses, fencingToken } = result.reservation;
    const address = addresses[0]?.address ?? '';
    if (before !== undefined) {
      expect({ address, fencingToken }).toEqual({
        address: before.address,
        fencingToken: before.fencingToken,
      });
      return;
    }
    expect([...candidates]).toContain(address);
    expect(fencingToken).not.toBe(model.staleFencingTokens.get(owner));
    model.reserved(owner, { address, fencingToken, name });
  }
}

class ReserveByAddress implements Command {
  readonly cluster: string;
  readonly uid: string;
  readonly address: string;
  constructor(cluster: string, uid: string, index: number) {
    this.cluster = cluster;
    this.uid = uid;
    this.address = addressNumber(index);
  }
  check = (model: Readonly<SiteModel>) => !model.held.has(`${this.cluster}/${this.uid}`);
  toString = () => `reserve ${this.cluster}/${this.uid} ${this.address}`;

  async run(model: SiteModel, real: Real): Promise<void> {
    const { cluster, uid, address } = this;
    const wanted = {
      uid,
      purpose: 'load-balancer',
      families: [4],
      addresses: [parseAddress(address)],
    };
    const demand = demandSchema.parse(wanted);
    const result = await reasonOf(run(real, reserve({ site: real.site, cluster, demand })));
    if (model.drained || !model.pool.has(address)) expect(result).toBe('address-outside');
    else if (model.isHeld(address)) expect(result).toBe('address-in-use');
    else if (result === 'done') {
      // Free, or its own cluster's: the quarantined address of another cluster is rejected below.
      const fencingToken =
        real.allocator.view.site(real.site)?.clusters.get(cluster)?.record.sequence ?? 0;
      model.reserved(`${cluster}/${uid}`, { address, fencingToken, name: undefined });
      expect(model.holdings(cluster).length).toBeLessThanOrEqual(model.quota);
    } else if (result === 'address-resting') {
      expect(model.resting.get(address)?.until ?? 0).toBeGreaterThan(model.now);
    } else {
      expect(result).toBe('quota');
      expect(model.holdings(cluster).length).toBe(model.quota);
    }
  }
}

class Free implements Command {
  readonly owner: string;
  readonly late: boolean;
  constructor(owner: string, late: boolean) {
    this.owner = owner;
    this.late = late;
  }
  check = (model: Readonly<SiteModel>) => !this.late || model.staleFencingTokens.has(this.owner);
  toString = () => `free ${this.owner} ${this.late ? 'late' : ''}`;

  async run(model: SiteModel, real: Real): Promise<void> {
    const [cluster = '', uid = ''] = this.owner.split('/');
    const held = model.held.get(this.owner);
    const fencingToken = this.late ? model.staleFencingTokens.get(this.owner) : held?.fencingToken;
    const answer = run(
      real,
      free({ site: real.site, cluster, uid, fencingToken, withdrawn: true }),
    );
    if (this.late && held !== undefined) {
      expect(await reasonOf(answer)).toBe('stale-fencing-token');
      return;
    }
    expect((await answer).freed).toEqual(held === undefined ? [] : [held.address]);
    model.freed(this.owner);
  }
}

class Pass implements Command {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  check = () => true;
  toString = () => `${this.ms} ms pass`;
  run(model: SiteModel, real: Real): Promise<void> {
    model.now += this.ms;
    real.setTime(model.now);
    return Promise.resolve();
  }
}

class Void implements Command {
  readonly cluster: string;
  readonly how: 'remove' | 'reclaim';
  constructor(cluster: string, how: 'remove' | 'reclaim') {
    this.cluster = cluster;
    this.how = how;
  }
  check = () => true;
  toString = () => `${this.how} ${this.cluster}`;

  async run(model: SiteModel, real: Real): Promise<void> {
    const { cluster } = this;
    const where = { site: real.site, cluster, withdrawn: true };
    const expected = model.holdings(cluster).map((owner) => model.held.get(owner)?.address);
    const { addresses } =
      this.how === 'remove'
        ? await run(real, removeCluster(where))
        : await run(real, reclaimCluster({ ...where, epoch: randomUUID() }));
    expect(new Set(addresses)).toEqual(new Set(expected));
    model.voided(cluster);
    if (this.how === 'reclaim') return;
    // Another cluster of the same name: addresses kept for the old one are not kept for it.
    for (const [address, resting] of model.resting) {
      if (resting.keptFor?.startsWith(`${cluster}/`) === true) {
        model.resting.set(address, { ...resting, keptFor: undefined });
      }
    }
    await makeCluster(real, cluster, model.quota);
  }
}

class Sweep implements Command {
  check = () => true;
  toString = () => 'sweep';
  async run(model: SiteModel, real: Real): Promise<void> {
    // A sweep is never in the same millisecond as the release that it sweeps.
    model.now += 100;
    real.setTime(model.now);
    while ((await run(real, sweep(real.site))) > 0) continue;
    model.swept();
  }
}

class Resize implements Command {
  readonly first: number;
  readonly last: number;
  constructor(first: number, size: number) {
    this.first = first;
    this.last = first + size;
  }
  check = () => true;
  toString = () => `pool ${this.first} to ${this.last}`;
  async run(model: SiteModel, real: Real): Promise<void> {
    const addresses = [`${addressNumber(this.first)}-${addressNumber(this.last)}`];
    const pool = poolSpecSchema.parse({ name: 'p', addresses, drained: model.drained });
    await run(real, setPool({ site: real.site, pool }));
    model.pool = new Set();
    for (let index = this.first; index <= this.last; index += 1)
      model.pool.add(addressNumber(index));
  }
}

class Drain implements Command {
  readonly drained: boolean;
  constructor(drained: boolean) {
    this.drained = drained;
  }
  check = () => true;
  toString = () => (this.drained ? 'drain' : 'undrain');
  async run(model: SiteModel, real: Real): Promise<void> {
    await run(real, drainPool({ site: real.site, pool: 'p', drained: this.drained }));
    model.drained = this.drained;
  }
}

export async function makeCluster(real: Real, cluster: string, quota: number): Promise<void> {
  const request = {
    site: real.site,
    cluster,
    quota,
    id: randomUUID(),
    epoch: randomUUID(),
    credential: { id: randomUUID(), hash: 'aa' },
    controlPlane: undefined,
  };
  await run(real, createCluster(request));
}

export const clusters = ['blue', 'green'];
const cluster = fc.constantFrom(...clusters);
const uid = fc.constantFrom('u1', 'u2', 'u3');
const name = fc.option(fc.constantFrom('web', 'api'), { nil: undefined });
const owner = fc.tuple(cluster, uid).map((parts) => parts.join('/'));
const index = fc.nat({ max: 6 });

export const commands: fc.Arbitrary<Iterable<Command>> = fc.commands(
  [
    fc.tuple(cluster, uid, name).map((args) => new Reserve(...args)),
    fc.tuple(cluster, uid, name).map((args) => new Reserve(...args)),
    fc.tuple(cluster, uid, index).map((args) => new ReserveByAddress(...args)),
    fc.tuple(owner, fc.boolean()).map((args) => new Free(...args)),
    fc.tuple(owner, fc.constant(false)).map((args) => new Free(...args)),
    fc.constantFrom(1, 50, 100, 1_000).map((ms) => new Pass(ms)),
    fc
      .tuple(cluster, fc.constantFrom('remove' as const, 'reclaim' as const))
      .map((args) => new Void(...args)),
    fc.constant(new Sweep()),
    fc.tuple(index, fc.nat({ max: 3 })).map((args) => new Resize(...args)),
    fc.boolean().map((drained) => new Drain(drained)),
  ],
  { maxCommands: 60, size: 'max' },
);
