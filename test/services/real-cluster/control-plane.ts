import { generateKeyPair } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { issueCertificate, makeAuthority, type CertificateFiles } from '../certificates.ts';
import { descendantsOf, endOrphans } from '../process-tree.ts';
import { ensureProgram } from '../programs.ts';
import { logTail, type ServiceProcess } from '../service-process.ts';
import { HopelessError, waitFor } from '../wait-for.ts';
import { issueKubeconfig } from './kubeconfig.ts';
import {
  controlPlaneAddress,
  kubernetesAddress,
  serviceNetwork,
  serviceNetwork6,
  type ClusterFiles,
} from './layout.ts';
import type { Machine } from './machine.ts';

const etcdUrl = 'http://127.0.0.1:2379';
/** Clients of the API server, with their identities. */
const clients = {
  admin: '/O=system:masters/CN=admin',
  'kube-controller-manager': '/CN=system:kube-controller-manager',
  'kube-scheduler': '/CN=system:kube-scheduler',
  'kube-proxy': '/CN=system:kube-proxy',
};

export interface ControlPlaneOptions {
  /** Additional flags for kube-apiserver. */
  readonly flags: readonly string[];
  readonly dualStack: boolean;
}

/** The programs of a control plane, in the order in which they start. */
export type ControlPlaneProgram =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler';

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler on a machine. */
export class ControlPlane {
  readonly authority: CertificateFiles;
  readonly #machine: Machine;
  readonly #files: ClusterFiles;
  readonly #options: ControlPlaneOptions;
  #serverFlags: readonly string[] | undefined;
  readonly #running = new Map<ControlPlaneProgram, ServiceProcess>();

  private constructor(
    machine: Machine,
    files: ClusterFiles,
    authority: CertificateFiles,
    options: ControlPlaneOptions,
  ) {
    this.#machine = machine;
    this.#files = files;
    this.authority = authority;
    this.#options = options;
  }

  static async start(
    machine: Machine,
    files: ClusterFiles,
    options: ControlPlaneOptions,
  ): Promise<ControlPlane> {
    await fs.mkdir(files.certificates, { recursive: true });
    const authority = await makeAuthority(files.certificates);
    const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
    await fs.writeFile(
      path.join(files.certificates, 'service-account.key'),
      privateKey.export({ type: 'pkcs1', format: 'pem' }),
    );
    for (const [name, subject] of Object.entries(clients)) {
      await issueKubeconfig(files, authority, name, subject);
    }
    const controlPlane = new ControlPlane(machine, files, authority, options);
    await controlPlane.boot();
    return controlPlane;
  }

  /** Kills all of them, or only these. Nodes and networks are within the same namespaces, but stay. */
  async cutPower(...programs: readonly ControlPlaneProgram[]): Promise<void> {
    const chosen = programs.length === 0 ? [...this.#running.keys()] : programs;
    const processes = chosen.flatMap((name) => this.#running.get(name) ?? []);
    const all = await Promise.all(processes.map(({ pid }) => descendantsOf(pid)));
    await endOrphans(all.flat());
    for (const name of chosen) this.#running.delete(name);
  }

  /** Starts those that do not run, with the content of their disk. */
  async boot(): Promise<void> {
    await this.#run('etcd', [
      `--data-dir=${path.join(this.#files.root, 'etcd')}`,
      ...[`--listen-client-urls=${etcdUrl}`, `--advertise-client-urls=${etcdUrl}`],
      '--listen-peer-urls=http://127.0.0.1:2380',
      '--unsafe-no-fsync',
    ]);
    this.#serverFlags ??= await this.#apiServerFlags();
    const server = await this.#run('kube-apiserver', this.#serverFlags);
    await this.#untilReady(server);
    const account = path.join(this.#files.certificates, 'service-account.key');
    await this.#run('kube-controller-manager', [
      ...this.#identity('kube-controller-manager'),
      `--service-account-private-key-file=${account}`,
      `--root-ca-file=${this.authority.certificate}`,
      '--use-service-account-credentials',
      `--flex-volume-plugin-dir=${path.join(this.#files.root, 'flexvolume')}`,
    ]);
    await this.#run('kube-scheduler', this.#identity('kube-scheduler'));
  }

  #identity(name: string): string[] {
    const kubeconfig = this.#files.kubeconfig(name);
    return [
      ...['', 'authentication-', 'authorization-'].map((use) => `--${use}kubeconfig=${kubeconfig}`),
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
    ];
  }

  async #run(name: ControlPlaneProgram, flags: readonly string[]): Promise<ServiceProcess> {
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const started = this.#machine.start(name, await ensureProgram(name), flags);
    this.#running.set(name, started);
    return started;
  }

  async #untilReady(server: ServiceProcess): Promise<void> {
    const kubectl = await ensureProgram('kubectl');
    const kubeconfig = this.#files.kubeconfig('admin');
    await waitFor('kube-apiserver to be ready', async () => {
      if (!server.isRunning()) {
        throw new HopelessError(logTail(this.#files.log('kube-apiserver')));
      }
      const ask = ['--kubeconfig', kubeconfig, 'get', '--raw', '/readyz'];
      return (await this.#machine.runInNetwork(kubectl, ask)) === 'ok';
    });
  }

  async #apiServerFlags(): Promise<string[]> {
    const issue = (name: string, subject: string, names = '') =>
      issueCertificate(this.#files.certificates, this.authority, name, subject, names);
    const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
    const names = [
      ...[controlPlaneAddress, '127.0.0.1', kubernetesAddress].map((address) => `IP:${address}`),
      ...['localhost', ...service].map((name) => `DNS:${name}`),
    ];
    const serving = await issue('apiserver', '/CN=kube-apiserver', names.join());
    const kubelets = await issue('kubelets', '/O=system:masters/CN=kube-apiserver-kubelet-client');
    const front = await issue('front-proxy', '/CN=front-proxy-client');
    const account = path.join(this.#files.certificates, 'service-account.key');
    const services = this.#options.dualStack
      ? `${serviceNetwork},${serviceNetwork6}`
      : serviceNetwork;
    return [
      ...[`--etcd-servers=${etcdUrl}`, `--advertise-address=${controlPlaneAddress}`],
      ...['--secure-port=6443', `--service-cluster-ip-range=${services}`],
      ...[`--tls-cert-file=${serving.certificate}`, `--tls-private-key-file=${serving.key}`],
      `--client-ca-file=${this.authority.certificate}`,
      `--kubelet-client-certificate=${kubelets.certificate}`,
      `--kubelet-client-key=${kubelets.key}`,
      `--kubelet-certificate-authority=${this.authority.certificate}`,
      '--kubelet-preferred-address-types=InternalIP',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${account}`,
      `--service-account-signing-key-file=${account}`,
      `--proxy-client-cert-file=${front.certificate}`,
      `--proxy-client-key-file=${front.key}`,
      `--requestheader-client-ca-file=${this.authority.certificate}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      ...['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'],
      '--allow-privileged=true',
      ...this.#options.flags,
    ];
  }
}
