import { beforeEach, expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import { Contact } from './contact.ts';
import type { ContactMemory, StoredContact } from './contact-memory.ts';
import type { PoolLedger } from './pool-ledger.ts';

let clock: SimulatedClock;
let stored: StoredContact | undefined;
let promises: (number | undefined)[];
let notifications: number;
let mayPromise: boolean;
/** State of the API server, which stores the promises. */
let isAway: 'no' | 'refuses' | 'hangs';
let answers: () => Promise<{ epoch: string; addresses: number; selfWithdrawal?: object }>;

beforeEach(() => {
  clock = new SimulatedClock();
  stored = undefined;
  promises = [];
  notifications = 0;
  mayPromise = true;
  isAway = 'no';
  answers = () =>
    Promise.resolve({
      epoch: 'e',
      addresses: 0,
      selfWithdrawal: { afterMs: 60_000, graceMs: 5_000 },
    });
});

function startContact(selfWithdrawal = true): { contact: Contact; stop: () => Promise<void> } {
  const ledger = {
    heartbeat: (promise: number | undefined) => {
      promises.push(promise);
      return answers();
    },
  } as unknown as PoolLedger;
  const memory = {
    read: () => Promise.resolve(stored),
    write: (contact: StoredContact, signal: AbortSignal) => {
      if (isAway === 'hangs') return hang(signal);
      if (isAway === 'refuses') return Promise.reject(new CausewayError('unavailable', 'away'));
      stored = contact;
      return Promise.resolve();
    },
    drop: (signal: AbortSignal) => {
      if (isAway === 'hangs') return hang(signal);
      if (isAway === 'refuses') return Promise.reject(new CausewayError('unavailable', 'away'));
      stored = undefined;
      return Promise.resolve();
    },
  } as unknown as ContactMemory;
  const options = { ledger, memory, clock, log: discardLog, everyMs: 10_000, selfWithdrawal };
  const contact = new Contact(options);
  const stop = new AbortController();
  const run = async () => {
    await contact.load(stop.signal);
    await contact.run(
      () => (notifications += 1),
      () => mayPromise,
      stop.signal,
    );
  };
  const ended = run();
  return {
    contact,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new CausewayError('aborted', 'hung')));
  });
}

async function pass(durationMs: number): Promise<void> {
  const end = clock.monotonic() + durationMs;
  clock.timer(durationMs, () => {});
  do await settled();
  while (clock.monotonic() < end && clock.fireNext());
  await settled();
}

const refuse = () => Promise.reject(new CausewayError('unavailable', 'cut off'));

test('promises the expected time once it is known, and withdraws when the ledger does not answer', async () => {
  const { contact, stop } = startContact();
  await pass(35_000);
  expect(promises).toEqual([undefined, 60_000, 60_000, 60_000]);
  expect(stored?.withdrawsAfterMs).toBe(60_000);
  expect(notifications).toBe(1);
  answers = refuse;
  await pass(54_000);
  expect(contact.isWithdrawn).toBe(false);
  await pass(2_000);
  expect(contact.isWithdrawn).toBe(true);
  expect(notifications).toBe(2);
  answers = () => Promise.resolve({ epoch: 'other', addresses: 0 });
  await pass(10_000);
  expect(contact.isWithdrawn).toBe(false);
  expect(notifications).toBeGreaterThan(2);
  await stop();
});

test('promises nothing without opt-in, whatever the ledger expects', async () => {
  const { contact, stop } = startContact(false);
  await pass(25_000);
  answers = refuse;
  await pass(10 ** 7);
  expect(promises.every((promise) => promise === undefined)).toBe(true);
  expect(stored).toBeUndefined();
  expect(contact.isWithdrawn).toBe(false);
  await stop();
});

test('promises nothing while the promise could not be kept', async () => {
  const { contact, stop } = startContact();
  await pass(15_000);
  mayPromise = false;
  await pass(10_000);
  expect(promises).toEqual([undefined, 60_000, undefined]);
  expect(stored).toBeUndefined();
  answers = refuse;
  await pass(10 ** 6);
  expect(contact.isWithdrawn).toBe(false);
  await stop();
});

test('the next controller keeps the promise, counting from the previous contact', async () => {
  stored = { at: clock.wallTime() - 50_000, withdrawsAfterMs: 60_000 };
  answers = refuse;
  const { contact, stop } = startContact();
  await pass(9_000);
  expect(contact.isWithdrawn).toBe(false);
  await pass(2_000);
  expect(contact.isWithdrawn).toBe(true);
  await stop();
});

test('a shorter time that may have been promised counts from the previous contact', async () => {
  const { contact, stop } = startContact();
  await pass(15_000);
  answers = () =>
    Promise.resolve({
      epoch: 'e',
      addresses: 0,
      selfWithdrawal: { afterMs: 20_000, graceMs: 5_000 },
    });
  await pass(10_000);
  answers = refuse;
  await pass(10_000);
  expect(promises.at(-1)).toBe(20_000);
  expect(contact.isWithdrawn).toBe(false);
  await pass(10_000);
  expect(contact.isWithdrawn).toBe(true);
  await stop();
});

test.each(['refuses', 'hangs'] as const)(
  'promises nothing and sends heartbeats while the API server %s',
  async (how) => {
    const { contact, stop } = startContact();
    await pass(25_000);
    expect(promises.at(-1)).toBe(60_000);
    isAway = how;
    promises.length = 0;
    await pass(200_000);
    expect(promises.length).toBeGreaterThan(5);
    expect(new Set(promises)).toEqual(new Set([undefined]));
    expect(contact.isHeard).toBe(true);
    expect(contact.isWithdrawn).toBe(false);
    isAway = 'no';
    await pass(30_000);
    expect(promises.at(-1)).toBe(60_000);
    expect(stored).toBeDefined();
    await stop();
  },
);
