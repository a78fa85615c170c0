import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Announcer, AnnouncerStatus } from './announcer.ts';

type Operations =
  | 'announced'
  | 'test'
  | 'announce'
  | 'withdraw'
  | 'withdrawAll'
  | 'resume'
  | 'drain';

/** An announcer of this or of another process. */
export interface ContractGateway extends Pick<Announcer, Operations> {
  status(): Promise<AnnouncerStatus>;
  /** Each role that the announcer has notified, with the role before it, in order. */
  changes(): Promise<readonly string[]>;
}

export interface ContractGateways {
  /** Two gateways of one set, in any role. */
  readonly gateways: readonly [ContractGateway, ContractGateway];
  stop(): Promise<void>;
}

const { signal } = new AbortController();
const one = parseAddress('10.77.1.1');
const two = parseAddress('10.77.1.2');
const six = parseAddress('2001:db8:77::1:1');
const patience = { timeout: 60_000, interval: 50 };

/** Records the changes of an announcer of this process. */
export function contractGateway(announcer: Announcer): ContractGateway {
  const changes: string[] = [];
  announcer.onChange((role, before) => changes.push(`${before} to ${role}`));
  return {
    announced: () => announcer.announced(),
    test: (...args) => announcer.test(...args),
    announce: (...args) => announcer.announce(...args),
    withdraw: (...args) => announcer.withdraw(...args),
    withdrawAll: (...args) => announcer.withdrawAll(...args),
    resume: (...args) => announcer.resume(...args),
    drain: (...args) => announcer.drain(...args),
    status: () => Promise.resolve(announcer.status()),
    changes: () => Promise.resolve(changes),
  };
}

type Pair = ContractGateways['gateways'];

/** The contract of every announcer that elects the active gateway. */
export function announcerContract(name: string, start: () => Promise<ContractGateways>): void {
  describe(`the announcer contract: ${name}`, () => {
    let set: ContractGateways;
    beforeAll(async () => {
      set = await start();
    });
    afterAll(() => set.stop());
    addressContract(() => set.gateways);
    roleContract(() => set.gateways);
    drainContract(() => set.gateways);
  });
}

function addressContract(pair: () => Pair): void {
  test('announces exactly the addresses of the last call', async () => {
    for (const addresses of [[one], [one, two, six], [two]]) {
      await announceOnBoth(pair(), ...addresses);
      for (const gateway of pair()) {
        expect(await gateway.announced()).toEqual(new Set(addresses));
      }
    }
  });

  test('withdraws single addresses and keeps the others', async () => {
    await announceOnBoth(pair(), one, two);
    for (const gateway of pair()) {
      for (let time = 0; time < 2; time += 1) {
        await gateway.withdraw(new Set([two, six]), signal);
        expect(await gateway.announced()).toEqual(new Set([one]));
      }
    }
  });

  test('checks addresses without a change', async () => {
    await announceOnBoth(pair(), one);
    for (const gateway of pair()) {
      await gateway.test(new Set([two]), signal);
      expect(await gateway.announced()).toEqual(new Set([one]));
    }
  });
}

function roleContract(pair: () => Pair): void {
  test('elects one active gateway', async () => {
    const [active, standby] = await elected(pair());
    expect(await active.status()).toMatchObject({ role: 'active', reason: undefined });
    expect(await standby.status()).toMatchObject({ role: 'standby', reason: undefined });
  });

  test('gives up the active role until the last cause has ended, and does not take it back', async () => {
    await announceOnBoth(pair(), one, two);
    const [first, second] = await elected(pair());
    const before = await first.status();
    await first.withdrawAll('drained', 'new disks');
    await first.withdrawAll('unhealthy', 'no route');
    await expect.poll(() => roleOf(first), patience).toBe('unable');
    await expect.poll(() => roleOf(second), patience).toBe('active');
    await first.resume('drained');
    // An update must not make a drained gateway active.
    await first.announce(new Set([one]), signal);
    await expect
      .poll(async () => (await first.status()).reason, patience)
      .toBe('unhealthy: no route');
    const unable = await first.status();
    expect(unable.role).toBe('unable');
    expect(unable.since).toBeGreaterThanOrEqual(before.since);
    await first.resume('unhealthy');
    await expect.poll(() => roleOf(first), patience).toBe('standby');
    expect((await first.status()).reason).toBeUndefined();
    expect(await first.announced()).toEqual(new Set([one]));
    expect(await roleOf(second)).toBe('active');
    expect((await first.changes()).slice(-2)).toEqual(['active to unable', 'unable to standby']);
    expect((await second.changes()).at(-1)).toBe('standby to active');
  });
}

function drainContract(pair: () => Pair): void {
  test('drains: the other gateway becomes active, and the drained one stays unable', async () => {
    const [first, second] = await elected(pair());
    for (let time = 0; time < 2; time += 1) await first.drain(signal);
    expect(await roleOf(first)).toBe('unable');
    expect((await first.status()).reason).toBeDefined();
    await expect.poll(() => roleOf(second), patience).toBe('active');
    expect(await roleOf(first)).toBe('unable');
  });
}

async function roleOf(gateway: ContractGateway): Promise<string> {
  return (await gateway.status()).role;
}

async function announceOnBoth(pair: Pair, ...addresses: (typeof one)[]): Promise<void> {
  await Promise.all(pair.map((each) => each.announce(new Set(addresses), signal)));
}

/** The active gateway and the standby one. */
async function elected([first, second]: Pair): Promise<Pair> {
  const roles = async () => `${await roleOf(first)}, ${await roleOf(second)}`;
  await expect.poll(roles, patience).toMatch(/^(?:active, standby|standby, active)$/);
  return (await roleOf(first)) === 'active' ? [first, second] : [second, first];
}
