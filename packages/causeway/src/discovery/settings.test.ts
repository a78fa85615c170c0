import { expect, test } from 'vitest';
import { discoverySettings, leaseName } from './settings.ts';

const lease = (settings: object) => leaseName(discoverySettings.parse(settings));

test('processes with different backends use different leases, replicas the same one', () => {
  expect(lease({ backendName: 'east' })).toBe('causeway-discovery-east');
  const both = { backends: [{ name: 'west' }, { name: 'east' }] };
  expect(lease(both)).toBe('causeway-discovery-east.west');
  expect(lease({ backends: [...both.backends].reverse() })).toBe(lease(both));
  expect(lease({ backendName: 'east-west' })).not.toBe(lease(both));
  expect(lease({ backendName: 'east', leaderElection: { name: 'mine' } })).toBe('mine');
});

test('the name of the lease is short enough for any number of backends', () => {
  const backends = Array.from({ length: 20 }, (_, index) => ({ name: `cloud-number-${index}` }));
  expect(lease({ backends })).toMatch(/^causeway-discovery-[0-9a-f]{10}$/);
});

test('networks of members are validated when the settings are read', () => {
  const read = (memberNetworks: string[]) =>
    discoverySettings.safeParse({ backendName: 'east', memberNetworks });
  expect(read(['10.0.0.0/8', '2001:db8::/32']).success).toBe(true);
  expect(read(['10.0.0.1/8']).error?.message).toContain('has host bits set');
});
