import path from 'node:path';

/** Addresses of a cluster. Each cluster has its own networks, so all use the same ones. */
export const serviceNetwork = '10.96.0.0/16';
export const kubernetesAddress = '10.96.0.1';
export const dnsAddress = '10.96.0.10';
export const controlPlaneAddress = '10.213.0.1';
export const machinesNetwork = '10.213.0.0/24';
export const podNetwork = '10.214.0.0/16';
/** The second family of a dual-stack cluster. */
export const serviceNetwork6 = 'fd96::/112';
export const controlPlaneAddress6 = 'fd13::1';
export const podNetwork6 = 'fd14::/32';
export const apiServer = `https://${controlPlaneAddress}:6443`;

/** The first node has the number 1. */
export interface NodePlace {
  readonly number: number;
  readonly name: string;
  readonly address: string;
  readonly pods: string;
  readonly address6: string;
  readonly pods6: string;
  /** It stays the same over a power cut, so that neighbors need not learn a new one. */
  readonly hardwareAddress: string;
}

export const nodePlace = (number: number): NodePlace => ({
  number,
  name: `n${number}`,
  address: `10.213.0.${10 + number}`,
  pods: `10.214.${number}.0/24`,
  address6: `fd13::1${number}`,
  pods6: `fd14:0:0:${number}::/64`,
  hardwareAddress: `02:13:00:00:00:0${number}`,
});

/** Files of a cluster below its directory. */
export interface ClusterFiles {
  readonly root: string;
  readonly certificates: string;
  readonly log: (name: string) => string;
  /** Files of only one node. */
  readonly node: (name: string, ...rest: string[]) => string;
  readonly kubeconfig: (name: string) => string;
}

export const clusterFiles = (root: string): ClusterFiles => ({
  root,
  certificates: path.join(root, 'certificates'),
  log: (name) => path.join(root, 'logs', `${name}.log`),
  node: (name, ...rest) => path.join(root, 'nodes', name, ...rest),
  kubeconfig: (name) => path.join(root, 'certificates', `${name}.kubeconfig`),
});
