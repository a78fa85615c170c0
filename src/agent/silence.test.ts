import { expect, test } from 'vitest';
import { parseAddress, type Address } from '../domain/address.ts';
import { silentLog } from '../runtime/log.ts';
import { SimulatedClock } from '../runtime/simulated-clock.ts';
import { handedLastsMs, Silence } from './silence.ts';

const signal = new AbortController().signal;
const own = new Set([parseAddress('10.0.0.1')]);
const handed = new Set([parseAddress('10.0.0.2')]);

test('what a controller handed out is forgotten when it vanishes without closing its stream', async () => {
  const clock = new SimulatedClock();
  let acted: ReadonlySet<Address> = new Set();
  const setSilent = (silent: ReadonlySet<Address>) => {
    acted = silent;
    return Promise.resolve();
  };
  // The stream looks alive all the time.
  const silence = new Silence({ setSilent }, { log: silentLog, clock }, () => true);
  silence.see(own);
  expect(silence.expire()).toBe(false);
  silence.hand(handed);
  await silence.act(signal);
  expect(acted).toBe(handed);
  // One that is there hands it again before it is forgotten.
  await clock.advance(handedLastsMs - 1);
  expect(silence.expire()).toBe(false);
  silence.hand(handed);
  await clock.advance(handedLastsMs - 1);
  expect(silence.expire()).toBe(false);
  await clock.advance(1);
  expect(silence.expire()).toBe(true);
  expect(silence.expire()).toBe(false);
  await silence.act(signal);
  expect(acted).toBe(own);
});
