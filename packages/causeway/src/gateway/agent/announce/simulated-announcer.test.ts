import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { simulateVrrp } from './simulated-announcer.ts';

function gateway(group: string) {
  const states: string[] = [];
  const stop = new AbortController();
  const self = {
    isFit: true,
    state: () => states.at(-1),
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
  const ended = simulateVrrp(
    {
      group,
      status: { enter: (state) => states.push(state) },
      isFit: () => self.isFit,
      clock: systemClock,
    },
    stop.signal,
  );
  return self;
}

test('makes one agent master, and another one when the first is drained or ends', async () => {
  const group = randomUUID();
  const first = gateway(group);
  await expect.poll(first.state).toBe('MASTER');
  const second = gateway(group);
  const stranger = gateway(randomUUID());
  await expect.poll(second.state).toBe('BACKUP');
  await expect.poll(stranger.state).toBe('MASTER');
  first.isFit = false;
  await expect.poll(first.state).toBe('FAULT');
  await expect.poll(second.state).toBe('MASTER');
  first.isFit = true;
  await expect.poll(first.state).toBe('BACKUP');
  await second.stop();
  await expect.poll(first.state).toBe('MASTER');
  await Promise.all([first.stop(), stranger.stop()]);
});
