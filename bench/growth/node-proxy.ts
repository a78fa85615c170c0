// A cluster's API with many Services, and node proxies that follow it: Causeway's, and the real kube-proxy.

import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { startEmbeddedKubernetes } from '../../packages/fake-kubernetes/src/start.ts';
import { openForwarder, openWindow } from '../../test/kernel/proxy/command-lab.ts';
import { removeDirectory, scratchDirectory } from '../../test/services/scratch.ts';
import { startServiceProcess, type ServiceProcess } from '../../test/services/service-process.ts';
import { backendAddress, backendPort, type Gateway } from '../packet-gateways.ts';
import { servedPort } from '../alternate-packets.ts';

const namespace = 'growth';
const podNetwork = '10.78.0.0/16';
const nodeName = 'node1';

interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** kube-proxy waits for these, which the embedded API does not create. */
const serviceCidrs = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'servicecidrs.networking.k8s.io' },
  spec: {
    group: 'networking.k8s.io',
    scope: 'Cluster',
    names: { plural: 'servicecidrs', singular: 'servicecidr', kind: 'ServiceCIDR' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
};

export const clusterAddress = (number: number) =>
  `10.96.${1 + Math.floor(number / 250)}.${2 + (number % 250)}`;

/**
 * An embedded API with this many Services, all with the one backend, and the configuration file of a proxy.
 */
export class ServiceApi {
  readonly configuration: string;
  readonly #port: number;
  readonly #socket: string;
  readonly #stop: () => Promise<void>;

  private constructor(
    configuration: string,
    place: { port: number; socket: string },
    stop: () => Promise<void>,
  ) {
    this.configuration = configuration;
    this.#port = place.port;
    this.#socket = place.socket;
    this.#stop = stop;
  }

  static async start(count: number): Promise<ServiceApi> {
    const api = await startEmbeddedKubernetes();
    const { cluster } = api;
    cluster.create('customresourcedefinitions.apiextensions.k8s.io', serviceCidrs);
    cluster.create('namespaces', object('v1', 'Namespace', { name: namespace }));
    const node = cluster.create('nodes', object('v1', 'Node', { name: nodeName }));
    // Without an address kube-proxy waits half a minute for one.
    const status = { addresses: [{ type: 'InternalIP', address: '10.78.0.101' }] };
    cluster.update('nodes', { ...node, status }, { subresource: 'status' });
    for (let number = 0; number < count; number += 1) {
      cluster.create('services', service(number));
      cluster.create('endpointslices.discovery.k8s.io', slice(number));
    }
    const directory = await scratchDirectory('bench-proxies');
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, api.kubeconfig);
    const configuration = path.join(directory, 'configuration.yaml');
    await fs.writeFile(configuration, proxyConfiguration(kubeconfig));
    const port = Number(new URL(api.url).port);
    const socket = path.join(directory, 'api.sock');
    const forwarder = await openForwarder(socket, port);
    return new ServiceApi(configuration, { port, socket }, async () => {
      forwarder.close();
      await api.stop();
      await removeDirectory(directory);
    });
  }

  /** Runs a proxy on a gateway. Its rules stay when it is stopped. */
  async run(gateway: Gateway, words: readonly string[]): Promise<ServiceProcess> {
    await openWindow(gateway.host, this.#port, this.#socket);
    const logFile = `${this.configuration}.${gateway.address}.log`;
    const args = [`--net=${gateway.host.path}`, ...words, '--config', this.configuration];
    return startServiceProcess('nsenter', args, { logFile });
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

function proxyConfiguration(kubeconfig: string): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    hostnameOverride: nodeName,
    mode: 'nftables',
    clusterCIDR: podNetwork,
    conntrack: { maxPerCore: 0, min: 0 },
  });
}

function object(apiVersion: string, kind: string, metadata: ObjectName) {
  return { apiVersion, kind, metadata };
}

function service(number: number) {
  const clusterIP = clusterAddress(number);
  return {
    ...object('v1', 'Service', { namespace, name: `s${number}` }),
    spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ port: servedPort }] },
  };
}

function slice(number: number) {
  const labels = { 'kubernetes.io/service-name': `s${number}` };
  return {
    ...object('discovery.k8s.io/v1', 'EndpointSlice', { namespace, name: `s${number}-1`, labels }),
    addressType: 'IPv4',
    ports: [{ name: '', port: backendPort, protocol: 'TCP' }],
    endpoints: [{ addresses: [backendAddress], conditions: { ready: true } }],
  };
}
