import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Role } from '../../../protocol/role.ts';
import { Alarms } from '../../alarms.ts';
import { watchForUnheardPeers } from './unheard-peers.ts';

const everyMs = 1_000;
const external = [parseAddress('10.77.0.11')];
const internal = [parseAddress('10.78.0.11')];

/** Each check counts this many new adverts on the external and the internal network. */
async function alarmsAfter(role: Role, outside: bigint, inside: bigint): Promise<string[]> {
  const clock = new SimulatedClock();
  const alarms = new Alarms(discardLog, noMetrics);
  const stop = new AbortController();
  let check = 0n;
  const heardPeers = () => {
    check += 1n;
    return Promise.resolve([
      { peers: external, packets: outside * check },
      { peers: internal, packets: inside * check },
    ]);
  };
  const watching = watchForUnheardPeers(
    { clock, everyMs, status: { role }, alarms, adverts: { heardPeers } },
    stop.signal,
  );
  await clock.advance(everyMs * 15);
  stop.abort();
  await watching.catch(() => undefined);
  return alarms.list();
}

test('a standby that hears the active gateway on one network only names the peer of the other', async () => {
  expect(await alarmsAfter('standby', 0n, 3n)).toEqual([
    expect.stringContaining('peers-unheard: nothing was heard from the peer 10.77.0.11'),
  ]);
});

test.each([
  ['a standby that hears all', 'standby', 3n, 3n],
  ['a standby that hears nothing and becomes active soon', 'standby', 0n, 0n],
  ['an active gateway', 'active', 0n, 3n],
  ['a gateway that is unable', 'unable', 0n, 3n],
] as const)('%s raises no alarm', async (_what, role, outside, inside) => {
  expect(await alarmsAfter(role, outside, inside)).toEqual([]);
});
