import { describe, expect, it } from 'vitest';
import { lbaasV2Capabilities, octaviaCapabilities, supportedPart } from './capabilities.ts';
import { parseOctaviaVersions } from './octavia.ts';

describe('capabilities', () => {
  it.each([
    [4, 'tags', false],
    [5, 'tags', true],
    [6, 'flavors', true],
    [10, 'additiveBatch', false],
    [11, 'additiveBatch', true],
    [12, 'allowedCidrs', true],
    [13, 'samePortTwoProtocols', true],
    [14, 'availabilityZones', true],
    [25, 'additionalVips', false],
    [26, 'additionalVips', true],
    [29, 'vipSecurityGroups', true],
  ] as const)('v2.%i: %s is %s', (minor, capability, expected) => {
    expect(octaviaCapabilities(minor)[capability]).toBe(expected);
  });

  it('removes the capabilities that a provider lacks', () => {
    const ovn = octaviaCapabilities(26, 'ovn');
    expect(ovn).toMatchObject({ allowedCidrs: false, flavors: false, l7: false });
    expect(ovn.listenerProtocols).toEqual(['TCP', 'UDP', 'SCTP']);
    expect(ovn.algorithms).toEqual(['SOURCE_IP_PORT']);
    expect(octaviaCapabilities(22).listenerProtocols).not.toContain('SCTP');
    expect(octaviaCapabilities(22).poolProtocols).toContain('PROXYV2');
  });

  it('rejects unsupported fields at any depth', () => {
    const refuse = (value: object) => () => supportedPart(lbaasV2Capabilities, value);
    expect(refuse({ name: 'x', tags: [], timeouts: undefined })()).toEqual({ name: 'x' });
    expect(refuse({ tags: ['a'] })).toThrow(/no tags/);
    expect(refuse({ listeners: [{ allowedCidrs: ['10.0.0.0/8'] }] })).toThrow(/no allowedCidrs/);
    expect(refuse({ listeners: [{ defaultPool: { members: [{ tags: ['a'] }] } }] })).toThrow(
      /no tags/,
    );
  });

  it('reads the newest version of the root document', () => {
    const versions = ['v1', 'v2.0', 'v2.9', 'v2.26', 'v3.40'].map((id) => ({ id }));
    expect(parseOctaviaVersions({ versions })).toBe(26);
    expect(parseOctaviaVersions({ versions: [] })).toBe(0);
  });
});
