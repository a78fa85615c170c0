import { describe, expect, it, test } from 'vitest';
import { convertKubeProxyConfiguration } from './kube-proxy-configuration.ts';
import { proxySettings } from './settings.ts';

const kind = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' };

/** As kubeadm writes it: every field, most of them empty. */
const everything = {
  ...kind,
  bindAddress: '0.0.0.0',
  bindAddressHardFail: true,
  clientConnection: {
    acceptContentTypes: '',
    burst: 0,
    contentType: '',
    kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
    qps: 0,
  },
  clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
  configSyncPeriod: '0s',
  conntrack: {
    maxPerCore: 0,
    min: null,
    tcpBeLiberal: true,
    tcpCloseWaitTimeout: '30m0s',
    tcpEstablishedTimeout: '2h0m0s',
    udpStreamTimeout: '0s',
    udpTimeout: '1m0s',
  },
  detectLocal: { bridgeInterface: '', interfaceNamePrefix: '' },
  detectLocalMode: 'ClusterCIDR',
  enableProfiling: false,
  healthzBindAddress: '[::]:10356',
  hostnameOverride: ' Node7 ',
  iptables: {
    localhostNodePorts: null,
    masqueradeAll: false,
    masqueradeBit: null,
    minSyncPeriod: '0s',
    syncPeriod: '0s',
  },
  ipvs: { excludeCIDRs: null, minSyncPeriod: '0s', scheduler: '', strictARP: false },
  logging: { flushFrequency: 0, options: { json: { infoBufferSize: '0' } }, verbosity: 5 },
  metricsBindAddress: ':10349',
  mode: 'nftables',
  nftables: { masqueradeAll: true, masqueradeBit: null, minSyncPeriod: '1s', syncPeriod: '1m0s' },
  nodePortAddresses: ['192.168.0.0/16'],
  oomScoreAdj: -998,
  portRange: '',
  showHiddenMetricsForVersion: '',
  winkernel: { enableDSR: false, networkName: '' },
};

describe('a KubeProxyConfiguration', () => {
  it('is read field by field', () => {
    const converted = convertKubeProxyConfiguration(everything);
    expect(converted?.warnings).toEqual([]);
    expect(proxySettings.parse(converted?.settings)).toMatchObject({
      nodeName: 'node7',
      kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
      needPorts: true,
      masqueradeAll: true,
      insiders: {
        by: 'cluster-networks',
        networks: [
          { address: '10.244.0.0', length: 16 },
          { address: 'fd00:10:244::', length: 56 },
        ],
      },
      sync: { minSeconds: 1, maxSeconds: 60 },
      health: { address: '::', port: 10_356 },
      metrics: { address: '127.0.0.1', port: 10_349 },
      conntrack: {
        maxPerCore: 0,
        min: 131_072,
        tcpBeLiberal: true,
        tcpCloseWaitSeconds: 1800,
        tcpEstablishedSeconds: 7200,
        udpSeconds: 60,
        udpStreamSeconds: 0,
      },
      nodePortAddresses: [{ address: '192.168.0.0', length: 16 }],
      oomScoreAdjust: -998,
      log: { level: 'debug' },
    });
  });

  test.each([
    [{ mode: 'ipvs' }, 'mode has no effect: rules are always written with nftables'],
    [{ ipvs: { strictARP: true } }, 'ipvs.strictARP has no effect: rules are always written'],
    [{ mode: 'nftables', iptables: { masqueradeAll: true } }, 'iptables.masqueradeAll has no'],
    [
      { nftables: { syncPeriod: '10s' } },
      'nftables.syncPeriod has no effect: the mode is iptables',
    ],
    [{ nftables: { masqueradeBit: 14 } }, 'nftables.masqueradeBit has no effect: no packet mark'],
    [{ iptables: { localhostNodePorts: true } }, 'iptables.localhostNodePorts has no effect'],
    [{ featureGates: { Some: true } }, 'featureGates.Some has no effect'],
    [{ bindAddress: '10.0.0.1' }, "bindAddress has no effect: the Node's own addresses"],
    [{ healthzBindAddress: 'x' }, 'healthzBindAddress has no effect: "x" is not an address and'],
    [{ detectLocalMode: 'Guess' }, 'detectLocalMode has no effect: "Guess" is not known'],
    [{ detectLocal: { bridgeInterface: 'br0' } }, 'detectLocal.bridgeInterface has no effect'],
    [{ conntrack: { udpTimeout: 'soon' } }, 'conntrack.udpTimeout has no effect: "soon" is not'],
    [{ madeUp: 1 }, 'madeUp has no effect: it is not known'],
  ])('names ignored fields: %j', (fields, warning) => {
    const converted = convertKubeProxyConfiguration({ ...kind, ...fields });
    expect(converted?.warnings).toHaveLength(1);
    expect(converted?.warnings[0]).toContain(warning);
  });

  test.each([
    [{ healthzBindAddress: '127.0.0.1' }, { health: { address: '127.0.0.1' } }],
    [{ healthzBindAddress: '::1' }, { health: { address: '::1' } }],
    [{ metricsBindAddress: '0.0.0.0' }, { metrics: { address: '0.0.0.0' } }],
    [{ metricsBindAddress: '[::1]:9000' }, { metrics: { address: '::1', port: 9000 } }],
  ])('defines where to listen, with the default port if it names none: %j', (fields, settings) => {
    const converted = convertKubeProxyConfiguration({ ...kind, ...fields });
    expect(converted).toEqual({ settings, warnings: [] });
  });

  test.each([
    [{ detectLocalMode: 'NodeCIDR' }, { by: 'node-networks' }],
    [
      { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'cni0' } },
      { by: 'bridge', interface: 'cni0' },
    ],
    [
      { detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'veth' } },
      { by: 'interface-prefix', interface: 'veth' },
    ],
  ])('defines how pods are identified: %j', (fields, insiders) => {
    const converted = convertKubeProxyConfiguration({ ...kind, ...fields });
    expect(converted?.warnings).toEqual([]);
    expect(converted?.settings).toEqual({ insiders });
  });

  it("is distinguished from Causeway's own file", () => {
    expect(convertKubeProxyConfiguration({ nodeName: 'node1' })).toBeUndefined();
  });
});

test('shows non-scalar values as written, whatever their keys', () => {
  const conntrack = { tcpEstablishedTimeout: [{ toString: false }] };
  const { warnings = [] } = convertKubeProxyConfiguration({ ...kind, conntrack }) ?? {};
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('conntrack.tcpEstablishedTimeout has no effect');
  expect(warnings[0]).toContain('toString');
  expect(warnings[0]).not.toContain('Cannot convert');
});
