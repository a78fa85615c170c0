import fs from 'node:fs/promises';
import path from 'node:path';
import type { CertificateFiles } from '../certificates.ts';
import { ensureProgram } from '../programs.ts';
import { endOrphans, descendantsOf } from '../process-tree.ts';
import { logTail, type ServiceProcess } from '../service-process.ts';
import { HopelessError, waitFor } from '../wait-for.ts';
import { makeCgroups, removeCgroups } from './cgroups.ts';
import { issueKubeconfig } from './kubeconfig.ts';
import {
  controlPlaneAddress,
  controlPlaneAddress6,
  nodePlace,
  type ClusterFiles,
  type NodePlace,
} from './layout.ts';
import { Machine } from './machine.ts';
import {
  containerdConfiguration,
  kubeletConfiguration,
  kubeProxyConfiguration,
  networkPlugins,
  type KubeProxyMode,
} from './node-configuration.ts';

/** Common properties of all nodes of a cluster. */
export interface NodeSurroundings {
  readonly files: ClusterFiles;
  readonly authority: CertificateFiles;
  /** The machine with the switch of the nodes. */
  readonly controlPlane: Machine;
  /** Directory with the unpacked packages of containerd, runc and the plug-ins. */
  readonly packages: string;
  /** The first process of each node. */
  readonly init: string;
  readonly cgroup: string;
  readonly count: number;
  readonly dualStack: boolean;
  /** Imported before the kubelet starts. */
  readonly images: readonly string[];
}

/** A node with containerd and a kubelet, in its own namespaces. */
export class ClusterNode {
  readonly place: NodePlace;
  readonly #surroundings: NodeSurroundings;
  #machine: Machine | undefined;
  #kubeProxy: ServiceProcess | undefined;
  #hasImages = false;

  constructor(number: number, surroundings: NodeSurroundings) {
    this.place = nodePlace(number);
    this.#surroundings = surroundings;
  }

  get name(): string {
    return this.place.name;
  }

  get machine(): Machine {
    if (this.#machine === undefined) throw new Error(`${this.name} has no power`);
    return this.#machine;
  }

  /** Starts it, or restarts it with the content of its disk. */
  async boot(): Promise<void> {
    const { files, init, controlPlane, cgroup } = this.#surroundings;
    for (const name of ['varlib/containerd', 'varlib/kubelet', 'varlog', 'cni', 'fake', 'cgroup']) {
      await fs.mkdir(this.#file(name), { recursive: true });
    }
    await makeCgroups(cgroup, this.name);
    this.#machine = await Machine.boot({
      name: this.name,
      init,
      log: files.log,
      within: controlPlane,
    });
    await this.#plugIn();
    await fs.writeFile(this.#file('resolv.conf'), 'nameserver 127.0.0.1\n');
    await this.machine.run('sh', '-euc', mountScript, this.name, this.#file());
    await this.#startContainerd();
    if (!this.#hasImages) {
      for (const archive of this.#surroundings.images) await this.load(archive);
      this.#hasImages = true;
    }
    await this.#startKubelet();
  }

  /** Everything on it ends at once; its disk stays. */
  async cutPower(): Promise<void> {
    await this.machine.cutPower();
    this.#machine = undefined;
    this.#kubeProxy = undefined;
    await removeCgroups(this.#surroundings.cgroup, this.name);
  }

  /** Imports images for the kubelet. */
  async load(archive: string): Promise<void> {
    const ctr = path.join(this.#surroundings.packages, 'usr/bin/ctr');
    await this.machine.run(ctr, '-n', 'k8s.io', 'images', 'import', archive);
  }

  async startKubeProxy(mode: KubeProxyMode = 'nftables'): Promise<void> {
    const { files, dualStack } = this.#surroundings;
    const config = this.#file('kube-proxy.yaml');
    const kubeconfig = files.kubeconfig('kube-proxy');
    await fs.writeFile(config, kubeProxyConfiguration(this.place, kubeconfig, { mode, dualStack }));
    this.#kubeProxy = this.machine.start(
      ...([`${this.name}-kube-proxy`, await ensureProgram('kube-proxy')] as const),
      [`--config=${config}`, '-v=2'],
      this.#tools(),
    );
  }

  /** PID of the program that entered the node; kube-proxy runs below it. */
  get kubeProxyPid(): number {
    if (this.#kubeProxy === undefined) throw new Error(`${this.name} has no kube-proxy`);
    return this.#kubeProxy.pid;
  }

  /** Ends it, and removes everything that it wrote. */
  async removeKubeProxy(): Promise<void> {
    if (this.#kubeProxy === undefined) return;
    await endOrphans(await descendantsOf(this.#kubeProxy.pid));
    await this.#kubeProxy.exited;
    this.#kubeProxy = undefined;
    const config = this.#file('kube-proxy.yaml');
    const words = [`--config=${config}`, '--cleanup'];
    const cleanUp = [await ensureProgram('kube-proxy'), words, { env: this.#tools() }] as const;
    const { code, stderr } = await this.machine.attempt(...cleanUp);
    if (code !== 0) throw new Error(`kube-proxy --cleanup on ${this.name}: ${stderr}`);
  }

  /** Variables for running the unpacked programs, iptables among them. */
  #tools(): Record<string, string> {
    const { packages } = this.#surroundings;
    const directories = ['usr/bin', 'usr/sbin', 'aliases'].map((name) => path.join(packages, name));
    return {
      PATH: [...directories, process.env['PATH']].join(':'),
      XTABLES_LIBDIR: path.join(packages, 'usr/lib', `${multiarch()}/xtables`),
    };
  }

  #file(...names: string[]): string {
    return this.#surroundings.files.node(this.name, ...names);
  }

  /** A cable from the switch, an address, and routes to the pods of the other nodes. */
  async #plugIn(): Promise<void> {
    const { controlPlane, count, dualStack } = this.#surroundings;
    const { number, address, pods, hardwareAddress } = this.place;
    const cable = `port${number}`;
    // After a power cut, the node's end of the cable is deleted a moment later.
    await controlPlane.attempt('ip', ['link', 'delete', cable]);
    await controlPlane.runInNetwork('ip', [
      ...['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0'],
      ...['address', hardwareAddress, 'netns', String(this.machine.pid)],
    ]);
    await controlPlane.run('ip', 'link', 'set', cable, 'master', 'machines', 'up');
    await controlPlane.run('ip', 'route', 'replace', pods, 'via', address);
    const ip = (...words: string[]) => this.machine.run('ip', ...words);
    await ip('address', 'add', `${address}/24`, 'dev', 'eth0');
    await this.machine.takeCable('eth0');
    await ip('link', 'set', 'eth0', 'up');
    await ip('route', 'add', 'default', 'via', controlPlaneAddress);
    if (dualStack) await this.#plugInSecondFamily();
    for (let other = 1; other <= count; other += 1) {
      if (other === number) continue;
      const place = nodePlace(other);
      await ip('route', 'add', place.pods, 'via', place.address);
      if (dualStack) await ip('route', 'add', place.pods6, 'via', place.address6);
    }
  }

  async #plugInSecondFamily(): Promise<void> {
    const { address6, pods6 } = this.place;
    await this.#surroundings.controlPlane.run('ip', 'route', 'replace', pods6, 'via', address6);
    await this.machine.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
    await this.machine.run('ip', 'address', 'add', `${address6}/64`, 'dev', 'eth0', 'nodad');
    await this.machine.run('ip', 'route', 'add', 'default', 'via', controlPlaneAddress6);
  }

  async #startContainerd(): Promise<void> {
    const { packages, files, dualStack } = this.#surroundings;
    const plugins = networkPlugins(this.place, dualStack);
    await fs.writeFile(this.#file('cni', '10-bridge.conflist'), plugins);
    await fs.writeFile(
      this.#file('containerd.toml'),
      containerdConfiguration({
        runtime: path.join(packages, 'usr/sbin/runc'),
        plugins: path.join(packages, 'usr/lib/cni'),
        pluginConfiguration: this.#file('cni'),
        optional: this.#file('opt'),
      }),
    );
    const log = `${this.name}-containerd`;
    const containerd = this.machine.start(
      ...([log, path.join(packages, 'usr/bin/containerd')] as const),
      ['--config', this.#file('containerd.toml')],
      this.#tools(),
    );
    await waitFor(`containerd of ${this.name}`, async () => {
      if (!containerd.isRunning()) throw new HopelessError(logTail(files.log(log)));
      const asked = await this.machine.attempt(path.join(packages, 'usr/bin/ctr'), ['version']);
      return asked.code === 0;
    });
  }

  async #startKubelet(): Promise<void> {
    const { files, authority, cgroup, dualStack } = this.#surroundings;
    const { name, address, address6 } = this.place;
    const subject = `/O=system:nodes/CN=system:node:${name}`;
    const names = `IP:${address},DNS:${name}`;
    const { certificate, key } = await issueKubeconfig(files, authority, name, subject, names);
    const configuration = kubeletConfiguration({
      authority: authority.certificate,
      certificate,
      key,
      cgroup: `/${cgroup}/${name}`,
      resolver: this.#file('resolv.conf'),
    });
    await fs.writeFile(this.#file('kubelet.yaml'), configuration);
    this.machine.start(`${name}-kubelet`, await ensureProgram('kubelet'), [
      ...[`--config=${this.#file('kubelet.yaml')}`, `--kubeconfig=${files.kubeconfig(name)}`],
      ...[
        `--hostname-override=${name}`,
        `--node-ip=${dualStack ? `${address},${address6}` : address}`,
        '-v=2',
      ],
    ]);
  }
}

const multiarch = () => (process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu');

/**
 * The node's own view of the file system. The kubelet requires settings of the whole machine that may differ;
 * mounts show it the required values without changing them. $0: the node's name; $1: its directory.
 */
const mountScript = `
hostname "$0"
mount --make-rprivate /
mount --rbind /sys/fs/cgroup "$1/cgroup"
mount -t sysfs sysfs /sys
mount --move "$1/cgroup" /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/containerd /run/lock
mount --bind "$1/varlib" /var/lib
mount --bind "$1/varlog" /var/log
mount --bind "$1/resolv.conf" /etc/resolv.conf
show() {
  [ "$(cat "/proc/sys/$1/$2")" = "$3" ] && return
  echo "$3" > "$4/fake/$2"
  mount --bind "$4/fake/$2" "/proc/sys/$1/$2"
}
show vm overcommit_memory 1 "$1"
show vm panic_on_oom 0 "$1"
show kernel panic 10 "$1"
show kernel panic_on_oops 1 "$1"
show kernel/keys root_maxkeys 1000000 "$1"
show kernel/keys root_maxbytes 25000000 "$1"
mount --make-rshared /
sysctl -qw net.ipv4.ip_forward=1
sysctl -qw net.bridge.bridge-nf-call-iptables=1 || true
`;
