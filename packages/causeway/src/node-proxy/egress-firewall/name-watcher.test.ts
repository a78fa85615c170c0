import { describe, expect, it } from 'vitest';
import { parseAddress as address, type Address } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { NameWatcher, type Resolution } from './name-watcher.ts';

type Answer = (signal: AbortSignal) => Promise<Resolution>;
const is =
  (text: string, ttlMs = 10_000): Answer =>
  () =>
    Promise.resolve({ addresses: [address(text)], ttlMs });
const fails: Answer = () => Promise.reject(new Error('SERVFAIL'));
const hangs: Answer = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('given up')));
  });

function start() {
  const clock = new SimulatedClock();
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  const changed: string[] = [];
  const known = new Map<string, ReadonlySet<Address> | undefined>();
  const watcher = new NameWatcher({
    clock,
    log: discardLog,
    random: () => 0,
    onChange: (name, found) => {
      changed.push(name);
      known.set(name, found);
    },
    resolve: (name, signal) => {
      asked.push(name);
      return (answers.get(name) ?? fails)(signal);
    },
  });
  const addresses = (name: string) => {
    const found = known.get(name);
    return found === undefined ? undefined : [...found];
  };
  return { clock, watcher, answers, asked, changed, addresses };
}

describe('NameWatcher', () => {
  it('resolves again after the TTL, and reports changes only', async () => {
    const { clock, watcher, answers, asked, changed, addresses } = start();
    answers.set('a', is('192.0.2.1'));
    watcher.watch(new Set(['a']));
    await clock.advance(0);
    expect(addresses('a')).toEqual(['192.0.2.1']);
    await clock.advance(9_999);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(asked).toHaveLength(2);
    expect(changed).toEqual(['a']);
    answers.set('a', is('192.0.2.2'));
    await clock.advance(10_000);
    expect(changed).toEqual(['a', 'a']);
    expect(addresses('a')).toEqual(['192.0.2.2']);
  });

  it('retries the first lookup too, and keeps the addresses when a later one fails', async () => {
    const { clock, watcher, answers, addresses } = start();
    watcher.watch(new Set(['a']));
    await watcher.tried();
    expect(addresses('a')).toBeUndefined();
    answers.set('a', is('192.0.2.1'));
    await clock.advance(1_000);
    expect(addresses('a')).toEqual(['192.0.2.1']);
    answers.set('a', fails);
    await clock.advance(60_000);
    expect(addresses('a')).toEqual(['192.0.2.1']);
  });

  it('is not delayed by a slow name, and aborts its lookup', async () => {
    const { clock, watcher, answers, asked, addresses } = start();
    answers.set('slow', hangs);
    answers.set('quick', is('192.0.2.1'));
    watcher.watch(new Set(['slow', 'quick']));
    await clock.advance(0);
    expect(addresses('quick')).toEqual(['192.0.2.1']);
    answers.set('slow', is('192.0.2.2'));
    await clock.advance(6_001);
    expect(asked.filter((name) => name === 'slow')).toHaveLength(2);
    expect(addresses('slow')).toEqual(['192.0.2.2']);
  });

  it('resolves a name at most every five seconds, whatever its TTL', async () => {
    const { clock, watcher, answers, asked } = start();
    answers.set('a', is('192.0.2.1', 0));
    watcher.watch(new Set(['a']));
    await clock.advance(4_999);
    expect(asked).toHaveLength(1);
  });

  it('drops names that no policy uses any more', async () => {
    const { clock, watcher, answers, asked, addresses } = start();
    answers.set('a', is('192.0.2.1'));
    watcher.watch(new Set(['a']));
    await clock.advance(0);
    watcher.watch(new Set());
    await clock.advance(100_000);
    expect(asked).toHaveLength(1);
    expect(addresses('a')).toBeUndefined();
  });

  it('resolves nothing after it is closed, and keeps the known addresses', async () => {
    const { clock, watcher, answers, asked, addresses } = start();
    answers.set('a', is('192.0.2.1'));
    watcher.watch(new Set(['a']));
    await clock.advance(0);
    watcher.close();
    await clock.advance(100_000);
    expect(asked).toHaveLength(1);
    expect(addresses('a')).toEqual(['192.0.2.1']);
  });
});
