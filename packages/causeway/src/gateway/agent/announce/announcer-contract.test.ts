import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { systemClock } from '@causeway/base/time/clock';
import { supervise } from '@causeway/base/work/supervisor';
import { Alarms } from '../alarms.ts';
import { agentSettings } from '../settings.ts';
import type { Announcer } from './announcer.ts';
import { announcerContract, contractGateway } from './announcer-contract.testing.ts';
import { announcerKind } from './kinds.ts';

const alarms = new Alarms(discardLog, noMetrics);

function open(addresses: object): Promise<Announcer> {
  const settings = agentSettings.parse({ name: 'g1', addresses });
  const kind = announcerKind(settings);
  return kind.open(
    {
      settings,
      servable: kind.servable(settings),
      kernel: { counters: () => Promise.resolve(new Map()) },
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    },
    new AbortController().signal,
  );
}

/** Runs the loops of an announcer until the signal fires. */
async function openSimulated(group: string) {
  const announcer = await open({ mover: 'simulated', simulatedWith: group });
  const stop = new AbortController();
  const ended = supervise(stop.signal, announcer.loops(alarms));
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { announcer, end };
}

announcerContract('simulated', async () => {
  const group = randomUUID();
  const [first, second] = [await openSimulated(group), await openSimulated(group)];
  return {
    gateways: [contractGateway(first.announcer), contractGateway(second.announcer)],
    async stop() {
      await Promise.all([first.end(), second.end()]);
    },
  };
});

test('simulated: the end of the active agent makes another one of its group active', async () => {
  const group = randomUUID();
  const first = await openSimulated(group);
  await expect.poll(() => first.announcer.status().role).toBe('active');
  const second = await openSimulated(group);
  const stranger = await openSimulated(randomUUID());
  await expect.poll(() => second.announcer.status().role).toBe('standby');
  await expect.poll(() => stranger.announcer.status().role).toBe('active');
  await first.end();
  await expect.poll(() => second.announcer.status().role).toBe('active');
  await Promise.all([second.end(), stranger.end()]);
});

test('foreign: accepts all operations, announces nothing and does not know the role', async () => {
  const announcer = await open({ mover: 'foreign' });
  const { signal } = new AbortController();
  const addresses = new Set([parseAddress('10.77.1.1')]);
  await announcer.test(addresses, signal);
  await announcer.announce(addresses, signal);
  await announcer.withdraw(addresses, signal);
  await announcer.withdrawAll('drained', 'new disks');
  await announcer.resume('drained');
  await announcer.drain(signal);
  expect(await announcer.announced()).toEqual(new Set());
  expect(await announcer.missing(signal)).toEqual(new Set());
  expect(announcer.status()).toMatchObject({ role: 'foreign', reason: undefined });
  expect({ loops: announcer.loops(alarms), network: announcer.network }).toEqual({ loops: {} });
});
