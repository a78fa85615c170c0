import { describe, expect, it } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { tracePacket } from '@causeway/nftables/trace/packet-tracer';
import { makeSlice } from './testing/objects.ts';
import { clients, fate, nodeAddress, rulesOf } from './testing/traced-node.ts';
import { clusterIp, webService } from './testing/web-service.ts';

const options = { services: [webService()], slices: [makeSlice({ addresses: ['10.1.0.1'] })] };
const virtualNetworks = ['10.96.0.0/16', 'fd96::/112'];
const layout = { dropsUnallocated: true };

describe('an address of the service networks without a Service', () => {
  const rules = rulesOf({ ...options, virtualNetworks, layout });

  it.each([
    ['pod', '10.96.7.7'],
    ['node', '10.96.7.7'],
    ['outside', '10.96.7.7'],
    ['pod6', 'fd96::7'],
  ] as const)('is dropped, from %s', (from, to) => {
    expect(fate(rules, { from, to, port: 80 })).toBe('dropped');
    expect(fate(rules, { from, to, port: 53, protocol: 'UDP' })).toBe('dropped');
  });

  it('does not affect addresses of Services or other networks', () => {
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 80 })).toBe('10.1.0.1 8080');
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 81 })).toBe('rejected');
    expect(fate(rules, { from: 'pod', to: '10.97.0.1', port: 80 })).toBe('10.97.0.1 80');
    const established = { state: 'established' } as const;
    const answer = { from: 'pod', to: '10.96.7.7', port: 80, connection: established } as const;
    expect(fate(rules, answer)).toBe('10.96.7.7 80');
  });

  it('is routed on if the networks are unknown', () => {
    expect(fate(rulesOf({ ...options, layout }), { from: 'pod', to: '10.96.7.7', port: 80 })).toBe(
      '10.96.7.7 80',
    );
  });
});

it('a ping to a cluster address is rejected: no host has the address', () => {
  const ping = {
    source: parseAddress(clients.pod),
    destination: parseAddress(clusterIp),
    protocol: 1,
    icmpType: 8,
  };
  const from = { from: 'network', localAddresses: [parseAddress(nodeAddress)] } as const;
  expect(tracePacket(rulesOf({ ...options, layout }), ping, from).outcome).toBe('rejected');
});
