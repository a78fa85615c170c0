import { describe, expect, it, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { layoutSettings, nodeContext } from './node-context.ts';
import { proxySettings } from './settings.ts';

const node: Node = {
  metadata: { name: 'node1', uid: 'u1', labels: { 'topology.kubernetes.io/zone': 'a' } },
  spec: { podCIDRs: ['10.1.1.0/24', 'fd01::/64'] },
  status: {
    addresses: [
      { type: 'Hostname', address: 'node1' },
      { type: 'ExternalIP', address: '203.0.113.1' },
      { type: 'InternalIP', address: '192.168.1.10' },
      { type: 'InternalIP', address: 'fd99::10' },
    ],
  },
};
const interfaces = ['192.168.1.10', '10.7.0.1', 'fd99::10'].map(parseAddress);

function settings(input: object = {}) {
  return { ...proxySettings.parse(input), nodeName: 'node1' };
}

describe('nodeContext and layoutSettings', () => {
  test.each([
    [['primary'], ['192.168.1.10', 'fd99::10']],
    [['10.0.0.0/8'], ['10.7.0.1']],
    [
      ['0.0.0.0/0', '::/0'],
      ['10.7.0.1', '192.168.1.10', 'fd99::10'],
    ],
    [['172.16.0.0/12'], []],
  ])('serves node ports on %j', (nodePortAddresses, expected) => {
    const context = nodeContext(settings({ nodePortAddresses }), node, interfaces);
    expect(context.nodePortAddresses).toEqual(expected);
    expect(context.zone).toBe('a');
  });

  test.each([
    [{ by: 'cluster-networks', networks: ['10.1.0.0/16'] }, true, ['10.1.0.0'], []],
    [{ by: 'cluster-networks' }, false, [], []],
    [{ by: 'node-networks' }, true, ['10.1.1.0', 'fd01::'], []],
    [{ by: 'bridge', interface: 'cni0' }, true, [], ['cni0', 'causeway-inside']],
    [{ by: 'interface-prefix', interface: 'veth' }, true, [], ['veth*', 'causeway-inside']],
    [{ by: 'nothing' }, false, [], []],
  ])('identifies pods: %j', (insiders, knows, networks, links) => {
    const chosen = settings({ insiders });
    expect(nodeContext(chosen, node, interfaces).knowsInsiders).toBe(knows);
    const layout = layoutSettings(chosen, node);
    expect(layout.insiders?.networks.map(({ address }) => address)).toEqual(networks);
    expect(layout.insiders?.interfaces).toEqual(links);
  });

  it('needs no device for replays if nothing is held', () => {
    const insiders = { by: 'bridge', interface: 'cni0' };
    const layout = layoutSettings(settings({ insiders, idling: { enabled: false } }), node);
    expect(layout.insiders?.interfaces).toEqual(['cni0']);
  });

  it('requires the interface where pods are identified by it', () => {
    const chosen = settings({ insiders: { by: 'bridge' } });
    expect(() => layoutSettings(chosen, node)).toThrow('insiders.interface is missing');
  });

  it('spreads connections by a seed that is stable over restarts and unique per node', () => {
    const { hashSeed } = layoutSettings(settings(), node);
    expect(layoutSettings(settings({ masqueradeAll: true }), node).hashSeed).toBe(hashSeed);
    const other = { ...node, metadata: { ...node.metadata, uid: 'u2' } };
    expect(layoutSettings(settings(), other).hashSeed).not.toBe(hashSeed);
  });
});
