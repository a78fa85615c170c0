import { isErrorCode } from '../../../packages/base/src/error/causeway-error.ts';
import { Allocator } from '../../../packages/causeway/src/ipam/allocator.ts';
import type { Context } from '../../../packages/causeway/src/ipam/api/context.ts';
import type {
  AnswerOf,
  OperationName,
  RequestOf,
} from '../../../packages/causeway/src/ipam/api/operations.ts';
import { Heartbeats } from '../../../packages/causeway/src/ipam/heartbeats.ts';
import { stateRoot } from '../../../packages/causeway/src/ipam/keys.ts';
import { Platforms } from '../../../packages/causeway/src/ipam/platform/platforms.ts';
import type { AddressRecord } from '../../../packages/causeway/src/ipam/records.ts';
import { sleep } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import {
  Simulation,
  type SimulatedProcess,
} from '../../../packages/base/src/simulation/simulation.ts';
import { whenAborted } from '../../../packages/base/src/time/when-aborted.ts';
import { MemoryLedger } from '../../doubles/memory-ledger.ts';
import { askHandler } from './ask.ts';
import { SimulatedLedger } from './simulated-ledger.ts';

const site = 'edge';
const params = { site, cluster: 'blue' };

interface Server {
  readonly process: SimulatedProcess;
  ask<Name extends OperationName>(name: Name, input: RequestOf<Name>): Promise<AnswerOf<Name>>;
}

/** Servers of one ledger, which are killed and restarted, and owners that call any of them. */
class IpamWorld {
  readonly simulation: Simulation;
  readonly ledger = new MemoryLedger();
  /** Ends with the world: waiting calls would keep all of it in memory. */
  readonly #end = new AbortController();
  readonly #servers: Server[] = [];
  #started = 0;

  constructor(seed: number) {
    this.simulation = new Simulation(seed, { hasteMs: 50 });
    for (let count = 0; count < 2; count += 1) this.#servers.push(this.#start());
  }

  #start(): Server {
    this.#started += 1;
    const process = this.simulation.process(`server ${this.#started}`);
    const { clock } = process;
    const ledger = new SimulatedLedger(this.ledger, process, this.simulation);
    const allocator = new Allocator({ ledger, clock, log: discardLog });
    const options = { allocator, clock, log: discardLog };
    const context: Context = {
      allocator,
      heartbeats: new Heartbeats(allocator),
      platforms: new Platforms({ ...options, drivers: new Map(), sweepEveryMs: 60_000 }),
      caller: 'system',
      needs: { kind: 'operator' },
      signal: this.#end.signal,
    };
    void allocator.follower.run(this.#end.signal);
    return { process, ask: (name, input) => askHandler(context, name, input) };
  }

  /** Retries at another server until there is an answer. */
  async ask<Name extends OperationName>(
    name: Name,
    input: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    for (;;) {
      const index = this.#pick(this.#servers.length);
      const server = this.#servers[index];
      if (server === undefined || server.process.isKilled) {
        this.#servers[index] = this.#start();
        continue;
      }
      const gone = whenAborted(server.process.ended).then(() => 'gone' as const);
      try {
        const answer = await Promise.race([server.ask(name, input), gone]);
        if (answer !== 'gone') return answer;
      } catch (error) {
        if (!isErrorCode(error, 'unavailable') && !isErrorCode(error, 'timeout')) throw error;
      }
      await sleep(this.simulation.clock, 20);
    }
  }

  /** One of the running servers is killed at one of its next calls to the ledger. */
  strike(): void {
    const { random } = this.simulation;
    const victim = this.#servers[this.#pick(this.#servers.length)];
    if (victim === undefined) return;
    const at = victim.process.calls + 1 + this.#pick(12);
    victim.process.killAt(at, random() < 0.5 ? 'before' : 'after');
  }

  async complete(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const end = () => (isDone = true);
    work.then(end, end);
    await this.simulation.runUntil(() => isDone);
    await work;
  }

  end(): void {
    this.#end.abort();
  }

  async held(): Promise<Map<string, string[]>> {
    const { entries } = await this.ledger.load(`${stateRoot}address/`, this.#end.signal);
    const owners = new Map<string, string[]>();
    for (const { value } of entries) {
      const record = JSON.parse(value) as AddressRecord;
      if (record.state !== 'held') continue;
      owners.set(
        record.address,
        record.owners.map(({ uid }) => uid),
      );
    }
    return owners;
  }

  #pick(count: number): number {
    return Math.floor(this.simulation.random() * count);
  }
}

const owners = ['a', 'b', 'c', 'd'];
const body = (uid: string) => ({ uid, namespace: 'shop', name: uid, families: [4 as const] });

/** Four owners reserve addresses at once, two release theirs, servers are killed, answers get lost. */
export async function runIpamSchedule(seed: number): Promise<void> {
  const world = new IpamWorld(seed);
  try {
    await live(world);
  } finally {
    world.end();
  }
}

async function live(world: IpamWorld): Promise<void> {
  await world.complete(world.ask('setSite', { params: { site }, body: { quarantineMs: 0 } }));
  const pool = { addresses: ['192.0.2.1-192.0.2.5'] };
  await world.complete(world.ask('setPool', { params: { site, pool: 'p' }, body: pool }));
  await world.complete(world.ask('createCluster', { params: { site }, body: { cluster: 'blue' } }));
  world.strike();
  const leaving = owners.filter(() => world.simulation.random() < 0.5);
  const life = async (uid: string) => {
    const first = await world.ask('reserve', { params, body: body(uid) });
    if (first.state !== 'held') throw new Error(`${uid} waits although there are enough`);
    if (!leaving.includes(uid)) return;
    const query = { fencingToken: first.reservation.fencingToken };
    await world.ask('free', { params: { ...params, uid }, query });
  };
  await world.complete(Promise.all(owners.map(life)));
  const held = await world.held();
  const holders = [...held.values()].flat().sort();
  const wanted = owners.filter((uid) => !leaving.includes(uid));
  const [are, should] = [holders.join(), wanted.join()];
  if (are !== should) throw new Error(`${are} hold addresses, and ${should} should`);
  for (const [address, all] of held) {
    if (all.length > 1) throw new Error(`${address} has ${all.join(' and ')}`);
  }
}
