import { expect, test } from 'vitest';
import { agentSettings } from '../../settings.ts';
import { keepalivedSettings, takeoverMs, vrrpFilter } from './vrrp-networks.ts';

const network = { interface: 'int', virtualRouterId: 52, address4: '10.78.0.11' };

test('accepts VRRP on each interface from the peers of all networks that use it', () => {
  const external = { interface: 'ext', virtualRouterId: 51, address4: '10.77.0.11' };
  const peers = { peers4: ['10.77.0.12'], address6: 'fd00::11', peers6: ['fd00::12'] };
  const filter = (internal: object) => {
    const settings = agentSettings.parse({
      name: 'g1',
      external: { ...external, ...peers },
      internal,
    });
    return vrrpFilter(keepalivedSettings(settings));
  };
  expect(filter({ ...network, peers4: ['10.78.0.12'] })).toEqual({
    links: [
      { interface: 'ext', peers: ['10.77.0.12', 'fd00::12'] },
      { interface: 'int', peers: ['10.78.0.12'] },
    ],
    routerIds: [51, 52],
  });
  expect(filter({ ...network, interface: 'ext', peers4: ['10.78.0.12'] })).toEqual({
    links: [{ interface: 'ext', peers: ['10.77.0.12', 'fd00::12', '10.78.0.12'] }],
    routerIds: [51, 52],
  });
});

test('gives a peer the time of four adverts to take over', () => {
  expect(takeoverMs({ advertIntervalMs: 40_000 })).toBe(160_000);
});
