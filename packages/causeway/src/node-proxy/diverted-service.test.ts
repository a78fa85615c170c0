import { describe, expect, it, test } from 'vitest';
import { parsePort } from '@causeway/base/address/port';
import { gatewayLayerAnnotation } from '../services/backend-layer.ts';
import type { Ruleset } from '@causeway/nftables/model/ruleset';
import { makeSlice } from './testing/objects.ts';
import { fates, nodeAddress, rulesOf, traceAttempt, type Attempt } from './testing/traced-node.ts';
import { addresses, balancer, clusterIp, web, webService } from './testing/web-service.ts';

describe('a diverted Service', () => {
  const spec = { externalTrafficPolicy: 'Local' as const };

  test.each(addresses)('is parked at %s', (_, to, port) => {
    const rules = web(spec, {}, { diversion: { kind: 'park', logGroup: 9 } });
    for (const from of ['pod', 'node', 'outside'] as const) {
      const trace = traceAttempt(rules, { from, to, port });
      expect(trace.outcome).toBe('dropped');
      expect(trace.steps.map(({ rule }) => rule)).toContain('log group 9');
    }
  });

  it('is parked only for clients that it would serve', () => {
    const ranges = { ...spec, loadBalancerSourceRanges: ['10.1.0.0/16'] };
    const rules = web(ranges, {}, { diversion: { kind: 'park', logGroup: 9 } });
    const stranger = traceAttempt(rules, { from: 'outside', to: balancer, port: 80 });
    expect(stranger.outcome).toBe('dropped');
    expect(stranger.steps.map(({ rule }) => rule)).not.toContain('log group 9');
  });

  it('is parked separately for pods that are identified by their interface', () => {
    const insiders = { networks: [], interfaces: ['cali*', 'causeway-inside'] };
    const diversion = { kind: 'park', logGroup: 9 } as const;
    const rules = web({}, {}, { diversion, layout: { insiders } });
    const groups = (through: string) =>
      traceAttempt(rules, { from: { address: '10.9.0.1', through }, to: clusterIp, port: 80 })
        .steps.map(({ rule }) => /log group (\d+)/.exec(rule)?.[1])
        .filter((group) => group !== undefined);
    expect(groups('cali7')).toEqual(['10']);
    expect(groups('causeway-inside')).toEqual(['10']);
    expect(groups('eth0')).toEqual(['9']);
  });

  it('keeps the address of external clients while parked packets are replayed', () => {
    const endpoints = [
      { addresses: ['10.1.0.1'], nodeName: 'node1' },
      { addresses: ['10.1.0.2'], nodeName: 'node2' },
    ];
    const both = ['10.1.0.1 8080', '10.1.0.2 8080'];
    const rules = web({}, { endpoints }, { diversion: { kind: 'replay' } });
    const nodePort = { to: nodeAddress, port: 30_080 };
    expect(fates(rules, { from: 'outside', ...nodePort })).toEqual(['10.1.0.1 8080']);
    expect(fates(rules, { from: 'outside', to: balancer, port: 80 })).toEqual(['dropped']);
    expect(fates(rules, { from: 'pod', to: balancer, port: 80 })).toEqual(both);
    expect(fates(rules, { from: 'pod', to: clusterIp, port: 80 })).toEqual(both);
    const elsewhere = web({}, { endpoints: endpoints.slice(1) }, { diversion: { kind: 'replay' } });
    expect(fates(elsewhere, { from: 'outside', ...nodePort })).toEqual(['dropped']);
  });

  describe('with ports and families that become ready one after the other', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81 },
    ];
    const park = { kind: 'park', logGroup: 9 } as const;
    const isParked = (rules: Ruleset, to: string, port: number, from: Attempt['from'] = 'pod') => {
      const { outcome, steps } = traceAttempt(rules, { from, to, port });
      return outcome === 'dropped' && steps.some(({ rule }) => rule === 'log group 9');
    };

    it('serves a port that has a ready pod', () => {
      const slice = { addresses: ['10.1.0.1'], ports: [{ name: 'http', port: 8080 }] };
      const rules = web({ ports }, slice, { diversion: park });
      expect(fates(rules, { from: 'pod', to: clusterIp, port: 80 })).toEqual(['10.1.0.1 8080']);
      expect(isParked(rules, clusterIp, 81)).toBe(true);
    });

    it('serves a family that has a ready pod', () => {
      const clusterIPs = [clusterIp, 'fd96::1'];
      const slice = { addresses: ['fd01::1'], addressType: 'IPv6' } as const;
      const rules = web({ clusterIPs }, slice, { diversion: park });
      expect(fates(rules, { from: 'pod6', to: 'fd96::1', port: 80 })).toEqual(['fd01::1 8080']);
      expect(isParked(rules, clusterIp, 80)).toBe(true);
    });

    it.each([
      ['is not ready', { ready: false }],
      ['is leaving', { ready: true, serving: true, terminating: true }],
    ])('keeps holding a port while its pod %s', (_, conditions) => {
      const slice = { endpoints: [{ addresses: ['10.1.0.1'], conditions }] };
      expect(isParked(web({}, slice, { diversion: park }), clusterIp, 80)).toBe(true);
    });

    it('leaves external clients to gateways that send directly to its pods', () => {
      const service = webService({ ports });
      const annotations = { [gatewayLayerAnnotation]: 'Pod' };
      const rules = rulesOf({
        services: [{ ...service, metadata: { ...service.metadata, annotations } }],
        slices: [makeSlice({ addresses: ['10.1.0.1'], ports: [{ name: 'http', port: 8080 }] })],
        diversion: park,
      });
      expect(fates(rules, { from: 'outside', to: balancer, port: 80 })).toEqual(['dropped']);
      expect(isParked(rules, balancer, 80, 'outside')).toBe(false);
      expect(isParked(rules, balancer, 81, 'outside')).toBe(true);
    });
  });

  it('is accepted by a local listener, per port', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81 },
    ];
    const listeners = new Map([['TCP/80', parsePort(15_080)]]);
    const diversion = { kind: 'accept', listeners, logGroup: 9 } as const;
    const rules = web({ ports }, {}, { diversion });
    for (const from of ['pod', 'node'] as const) {
      const trace = traceAttempt(rules, { from, to: clusterIp, port: 80 });
      expect(trace).toMatchObject({
        outcome: 'delivered',
        packet: { destination: nodeAddress, destinationPort: 15_080 },
      });
    }
    const other = traceAttempt(rules, { from: 'pod', to: clusterIp, port: 81 });
    expect(other.outcome).toBe('dropped');
    expect(other.steps.map(({ rule }) => rule)).toContain('log group 9');
  });
});
