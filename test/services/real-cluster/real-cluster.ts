import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import type { CertificateFiles } from '../certificates.ts';
import { ensureDebianPackages } from '../debian-packages.ts';
import { MissingError } from '../missing.ts';
import { ensureProgram } from '../programs.ts';
import { removeDirectory, scratchDirectory } from '../scratch.ts';
import { unpackDebianPackages } from '../unpacked-packages.ts';
import { waitFor } from '../wait-for.ts';
import { ensureBasicImages } from './basic-images.ts';
import { cgroupName, removeCgroups, requireCgroups, sweepCgroups } from './cgroups.ts';
import { clusterDns } from './cluster-dns.ts';
import { ClusterNode } from './cluster-node.ts';
import { ControlPlane } from './control-plane.ts';
import {
  clusterFiles,
  controlPlaneAddress,
  controlPlaneAddress6,
  type ClusterFiles,
} from './layout.ts';
import { Machine } from './machine.ts';
import { podNetworksOf, type KubeProxyMode } from './node-configuration.ts';

export interface RealClusterOptions {
  /** Number of nodes; default 3, at most 9. */
  readonly nodes?: number;
  /** Whether kube-proxy serves Services on the nodes, and its mode; default nftables. */
  readonly kubeProxy?: boolean | KubeProxyMode;
  /** Archives with the initial images of every node. */
  readonly images?: readonly string[];
  /** Whether nodes, pods and Services have addresses of both families; default IPv4 only. */
  readonly dualStack?: boolean;
  /** Further flags for kube-apiserver. */
  readonly flags?: readonly string[];
}

const containerPackages = [
  ...['containerd', 'containernetworking-plugins', 'iptables', 'libip4tc2', 'libip6tc2', 'runc'],
];
/** Including those of gateways, which a test may add to a cluster. */
const installedPackages = [
  ...['conntrack', 'curl', 'iproute2', 'keepalived', 'libseccomp2', 'libxtables12', 'nftables'],
  ...['openssl', 'procps'],
];

/** Makes sure that everything for a real cluster is available. Throws MissingError otherwise. */
export async function prepareRealCluster(): Promise<{ packages: string; images: string }> {
  if (process.getuid?.() !== 0) throw new MissingError('the real cluster needs root');
  await requireCgroups();
  await ensureDebianPackages(installedPackages);
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const) {
    await ensureProgram(name);
  }
  for (const name of ['kube-scheduler', 'kubelet', 'kube-proxy'] as const)
    await ensureProgram(name);
  const packages = await unpackDebianPackages(containerPackages);
  await nameIptables(packages);
  return { packages, images: await ensureBasicImages() };
}

/**
 * A real Kubernetes: a control plane and nodes with kubelets and containers, each in its own namespaces
 * within those of the control plane. All of it ends with this process.
 */
export class RealCluster {
  readonly files: ClusterFiles;
  readonly nodes: readonly ClusterNode[];
  /** Machine of etcd and the API server, with the switch of the nodes: `machines`. */
  readonly controlPlane: Machine;
  /** Its programs. */
  readonly control: ControlPlane;
  /** Authority of all certificates. */
  readonly authority: CertificateFiles;
  readonly #cgroup: string;
  readonly #kubectl: string;
  readonly #init: string;

  private constructor(parts: {
    files: ClusterFiles;
    nodes: readonly ClusterNode[];
    controlPlane: Machine;
    control: ControlPlane;
    cgroup: string;
    kubectl: string;
    init: string;
  }) {
    this.files = parts.files;
    this.nodes = parts.nodes;
    this.controlPlane = parts.controlPlane;
    this.control = parts.control;
    this.authority = parts.control.authority;
    this.#cgroup = parts.cgroup;
    this.#kubectl = parts.kubectl;
    this.#init = parts.init;
  }

  static async start(options: RealClusterOptions = {}): Promise<RealCluster> {
    const { packages, images } = await prepareRealCluster();
    await sweepCgroups();
    const cgroup = cgroupName(randomBytes(3).toString('hex'));
    const files = clusterFiles(await scratchDirectory('cluster'));
    await fs.mkdir(path.dirname(files.log('any')), { recursive: true });
    const init = await fs.realpath(await ensureProgram('workload'));
    const machine = await Machine.boot({ name: 'control-plane', init, log: files.log });
    try {
      const { dualStack = false, flags = [] } = options;
      await makeSwitch(machine, dualStack);
      const control = await ControlPlane.start(machine, files, { dualStack, flags });
      const { authority } = control;
      const count = options.nodes ?? 3;
      const surroundings = {
        files,
        authority,
        controlPlane: machine,
        packages,
        init,
        cgroup,
        count,
        dualStack,
        images: [images, ...(options.images ?? [])],
      };
      const nodes = Array.from({ length: count }, (_, at) => new ClusterNode(at + 1, surroundings));
      const kubectl = await ensureProgram('kubectl');
      const cluster = new RealCluster({
        files,
        nodes,
        controlPlane: machine,
        control,
        cgroup,
        kubectl,
        init,
      });
      await cluster.#join(options);
      return cluster;
    } catch (error) {
      await end(machine, cgroup, files);
      throw error;
    }
  }

  stop(): Promise<void> {
    return end(this.controlPlane, this.#cgroup, this.files);
  }

  /** An administrator's kubeconfig for the cluster's network. */
  get kubeconfig(): string {
    return this.files.kubeconfig('admin');
  }

  kubectl(...words: string[]): Promise<string> {
    return this.#runKubectl(words);
  }

  async apply(...objects: object[]): Promise<void> {
    const input = objects.map((object) => stringify(object)).join('---\n');
    await this.#runKubectl(['apply', '--server-side', '-f', '-'], input);
  }

  async get<T>(...words: string[]): Promise<T> {
    return JSON.parse(await this.#runKubectl(['get', ...words, '-o', 'json'])) as T;
  }

  /** A machine that is no node: a gateway or an external client. It ends with the cluster. */
  addMachine(name: string): Promise<Machine> {
    const { log } = this.files;
    return Machine.boot({ name, init: this.#init, log, within: this.controlPlane });
  }

  /** A network beside that of the nodes. */
  async addSwitch(name: string): Promise<void> {
    await this.controlPlane.run('ip', 'link', 'add', name, 'type', 'bridge');
    await this.controlPlane.run('ip', 'link', 'set', name, 'up');
  }

  /**
   * A cable from a switch to a machine; the machine's end has the switch's name. A machine that is rebooted
   * needs a fixed hardware address.
   */
  async plug(
    machine: Machine,
    network: string,
    address: string,
    hardwareAddress?: string,
  ): Promise<void> {
    const port = `p${randomBytes(4).toString('hex')}`;
    const hardware = hardwareAddress === undefined ? [] : ['address', hardwareAddress];
    await this.controlPlane.runInNetwork('ip', [
      ...['link', 'add', port, 'type', 'veth', 'peer', 'name', network, ...hardware],
      ...['netns', String(machine.pid)],
    ]);
    await this.controlPlane.run('ip', 'link', 'set', port, 'master', network, 'up');
    await machine.run('ip', 'address', 'add', address, 'dev', network);
    await machine.takeCable(network);
    await machine.run('ip', 'link', 'set', network, 'up');
  }

  /** Imports an archive of images on every node. */
  async load(archive: string): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.load(archive)));
  }

  #runKubectl(words: readonly string[], input = ''): Promise<string> {
    const common = ['--kubeconfig', this.kubeconfig, '--cache-dir', `${this.files.root}/kubectl`];
    return this.controlPlane.runInNetwork(this.#kubectl, [...common, ...words], { input });
  }

  async #join({ kubeProxy = 'nftables', dualStack = false }: RealClusterOptions): Promise<void> {
    await Promise.all(
      this.nodes.map(async (node) => {
        await node.boot();
        if (kubeProxy !== false)
          await node.startKubeProxy(kubeProxy === true ? undefined : kubeProxy);
        const podCIDRs = podNetworksOf(node.place, dualStack);
        const patch = JSON.stringify({ spec: { podCIDR: podCIDRs[0], podCIDRs } });
        await waitFor(`${node.name} to join`, () => this.kubectl('get', 'node', node.name));
        await this.kubectl('patch', 'node', node.name, '-p', patch);
      }),
    );
    await this.apply(...clusterDns);
    // Without it no pod is admitted; the controller manager creates it after a while.
    await waitFor("the default namespace's account", () =>
      this.kubectl('get', 'serviceaccount', 'default'),
    );
    await this.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=300s');
  }
}

/** On Debian the plain names come from alternatives, which only an installed package has. */
async function nameIptables(packages: string): Promise<void> {
  const aliases = path.join(packages, 'aliases');
  await fs.mkdir(aliases, { recursive: true });
  for (const name of ['iptables', 'ip6tables']) {
    for (const use of ['', '-save', '-restore']) {
      const alias = path.join(aliases, `${name}${use}`);
      const target = path.join(packages, 'usr/sbin/xtables-nft-multi');
      await fs.symlink(target, alias).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    }
  }
}

async function makeSwitch(machine: Machine, dualStack: boolean): Promise<void> {
  await machine.run('ip', 'link', 'add', 'machines', 'type', 'bridge');
  await machine.run('ip', 'address', 'add', `${controlPlaneAddress}/24`, 'dev', 'machines');
  await machine.run('ip', 'link', 'set', 'machines', 'up');
  await machine.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  if (!dualStack) return;
  await machine.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  const address = `${controlPlaneAddress6}/64`;
  await machine.run('ip', 'address', 'add', address, 'dev', 'machines', 'nodad');
}

async function end(machine: Machine, cgroup: string, files: ClusterFiles): Promise<void> {
  await machine.cutPower();
  await removeCgroups(cgroup);
  await removeDirectory(files.root);
}
