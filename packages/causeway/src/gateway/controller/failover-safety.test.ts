import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Pin } from '@causeway/nftables/pins/pin';
import type { FrontendKey } from '../protocol/frontend.ts';
import { newService, ProviderLab, until } from './simulated-provider.testing.ts';

const pin: Pin = {
  client: parseAddress('198.51.100.7'),
  clientPort: parsePort(40_000),
  address: parseAddress('192.0.2.1'),
  port: parsePort(80),
  backend: parseAddress('10.0.0.1'),
  backendPort: parsePort(8080),
};

let lab: ProviderLab;
beforeAll(async () => {
  lab = await ProviderLab.start();
});
afterAll(() => lab.close());

test('a Service says that it is not failover-safe until all gateways have its pins', async () => {
  const [active, standby] = lab.agents;
  let isRefusing = true;
  const received: Pin[] = [];
  const nothing = { cursor: { epoch: 'memory', version: 0 }, set: [], removed: [] };
  active.role = 'active';
  active.pins = {
    prepare: () => Promise.resolve(new Set<FrontendKey>()),
    collect: () => Promise.resolve({ ...nothing, set: [pin] }),
    send: () => Promise.resolve(),
  };
  standby.pins = {
    prepare: () => Promise.resolve(new Set<FrontendKey>()),
    collect: () => Promise.resolve(nothing),
    send: ({ set }) => {
      if (isRefusing) return Promise.reject(new Error('busy'));
      received.push(...set);
      return Promise.resolve();
    },
  };
  lab.startController();
  await lab.create(newService('web'), '192.0.2.1');
  await lab.untilEvent(
    'Warning NotFailoverSafe: Not failover-safe: g2 has not acknowledged the pins of running connections',
  );
  await lab.untilItSays('web', 'Not failover-safe: g2');
  await lab.untilServed('web');

  isRefusing = false;
  await until(async () =>
    expect((await lab.read('web'))?.status?.conditions?.[0]?.message).not.toContain('failover'),
  );
  expect(received).toContainEqual(pin);
});
