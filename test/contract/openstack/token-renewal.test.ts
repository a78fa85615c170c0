import { expect, it } from 'vitest';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { describeEveryCloud } from './clouds.ts';

const call = { signal: new AbortController().signal };

await describeEveryCloud(
  'Tokens that live for ten seconds',
  { tokenLifetimeSeconds: 10 },
  (cloud) => {
    it('are renewed before they expire, during calls', async () => {
      const session = cloud().open('demo').session();
      const { networks } = new Neutron(session);
      const first = await session.tokens.token(call.signal);
      let current = first;
      while (current === first) {
        await collect(networks.list({ name: 'private' }, call));
        const asked = systemClock.monotonic();
        current = await session.tokens.token(call.signal);
        // An expired token is never returned, even if this process was stalled.
        if (current === first) expect(asked).toBeLessThan(first.expiresAt);
      }
      expect(current.value.reveal()).not.toBe(first.value.reveal());
      expect(current.expiresAt).toBeGreaterThan(first.expiresAt);
    });
  },
);
