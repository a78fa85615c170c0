import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { simulateRole } from './simulated-announcer.ts';

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
  const ended = simulateRole(
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

test('makes one agent active, and another one when the first is drained or ends', async () => {
  const group = randomUUID();
  const first = gateway(group);
  await expect.poll(first.state).toBe('active');
  const second = gateway(group);
  const stranger = gateway(randomUUID());
  await expect.poll(second.state).toBe('standby');
  await expect.poll(stranger.state).toBe('active');
  first.isFit = false;
  await expect.poll(first.state).toBe('unable');
  await expect.poll(second.state).toBe('active');
  first.isFit = true;
  await expect.poll(first.state).toBe('standby');
  await second.stop();
  await expect.poll(first.state).toBe('active');
  await Promise.all([first.stop(), stranger.stop()]);
});
