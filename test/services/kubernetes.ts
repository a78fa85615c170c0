import { generateKeyPair } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { stringify } from 'yaml';
import { issueCertificate, makeAuthority, type CertificateFiles } from './certificates.ts';
import { ensureDebianPackages } from './debian-packages.ts';
import { startEtcdServer, type EtcdServer } from './etcd-server.ts';
import { freePort } from './free-port.ts';
import { ensureProgram } from './programs.ts';
import { removeDirectory, scratchDirectory } from './scratch.ts';
import { logTail, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { HopelessError, waitFor } from './wait-for.ts';

export interface KubernetesOptions {
  /** Runs the real kube-controller-manager too: endpoint slices, garbage collection, deployments. */
  readonly controllerManager?: boolean;
  /** Only these controllers: `endpointslice-controller`. */
  readonly controllers?: readonly string[];
  /** Further flags for kube-apiserver. */
  readonly flags?: readonly string[];
}

export interface RealKubernetes {
  readonly url: string;
  readonly token: string;
  /** The authority that signed the server's certificate, as PEM. */
  readonly ca: string;
  readonly authority: CertificateFiles;
  /** A client certificate of a cluster administrator. */
  readonly adminCertificate: CertificateFiles;
  /** Path of a kubeconfig for the administrator. */
  readonly kubeconfig: string;
  readonly directory: string;
  readonly etcd: EtcdServer;
  /** Ends kube-apiserver with the signal and starts it again on the same port. */
  restart(signal?: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

const token = 'administrator-of-the-test-cluster';

/** Makes sure that everything for a real kube-apiserver is available. Throws MissingError otherwise. */
export async function prepareKubernetes(options: KubernetesOptions = {}): Promise<void> {
  await ensureDebianPackages(['openssl']);
  await ensureProgram('etcd');
  await ensureProgram('kube-apiserver');
  await ensureProgram('kubectl');
  if (options.controllerManager === true) await ensureProgram('kube-controller-manager');
}

/** A real kube-apiserver on a real etcd, on free ports of the loopback address. */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<RealKubernetes> {
  await prepareKubernetes(options);
  const directory = await scratchDirectory('kubernetes');
  const authority = await makeAuthority(directory);
  const sans = 'IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc';
  const serving = await issueCertificate(directory, authority, 'server', '/CN=apiserver', sans);
  const admin = await issueCertificate(directory, authority, 'admin', '/O=system:masters/CN=admin');
  await writeServerFiles(directory);
  const etcd = await startEtcdServer(directory);
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const ca = await fs.readFile(authority.certificate, 'utf8');
  const kubeconfig = await writeKubeconfig(directory, url, ca);
  const start = () =>
    startApiServer(
      directory,
      apiServerFlags(directory, etcd.url, port, authority, serving, options),
      url,
      ca,
    );
  let server = await start();
  const manager =
    options.controllerManager === true
      ? await startManager(directory, kubeconfig, options.controllers ?? ['*'])
      : undefined;
  return {
    url,
    token,
    ca,
    authority,
    adminCertificate: admin,
    kubeconfig,
    directory,
    etcd,
    async restart(signal = 'SIGKILL') {
      server.kill(signal);
      await server.exited;
      server = await start();
    },
    async stop() {
      await manager?.stop();
      // In this order: without its etcd, kube-apiserver hangs on SIGTERM.
      await server.stop(2_000);
      await etcd.process.stop();
      await removeDirectory(directory);
    },
  };
}

async function writeServerFiles(directory: string): Promise<void> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
  await fs.writeFile(path.join(directory, 'service-account.key'), pem);
  await fs.writeFile(path.join(directory, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
}

function apiServerFlags(
  directory: string,
  etcdUrl: string,
  port: number,
  authority: CertificateFiles,
  serving: CertificateFiles,
  options: KubernetesOptions,
): string[] {
  const serviceAccountKey = path.join(directory, 'service-account.key');
  return [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--tls-cert-file=${serving.certificate}`,
    `--tls-private-key-file=${serving.key}`,
    `--client-ca-file=${authority.certificate}`,
    `--token-auth-file=${path.join(directory, 'tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${serviceAccountKey}`,
    `--service-account-signing-key-file=${serviceAccountKey}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.96.0.0/16,fd00:96::/112',
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
    ...(options.flags ?? []),
  ];
}

async function startApiServer(
  directory: string,
  flags: readonly string[],
  url: string,
  ca: string,
): Promise<ServiceProcess> {
  const program = await ensureProgram('kube-apiserver');
  const logFile = path.join(directory, 'kube-apiserver.log');
  const server = startServiceProcess(program, flags, { logFile });
  const dispatcher = new Agent({ connect: { ca } });
  await waitFor('kube-apiserver to be ready', async () => {
    if (!server.isRunning()) throw new HopelessError(`kube-apiserver ended:\n${logTail(logFile)}`);
    const answer = await request(`${url}/readyz`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}` },
    });
    return (await answer.body.text()) === 'ok';
  });
  await dispatcher.close();
  return server;
}

async function startManager(
  directory: string,
  kubeconfig: string,
  controllers: readonly string[],
): Promise<ServiceProcess> {
  const program = await ensureProgram('kube-controller-manager');
  const port = await freePort();
  return startServiceProcess(
    program,
    [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--service-account-private-key-file=${path.join(directory, 'service-account.key')}`,
      '--leader-elect=false',
      `--controllers=${controllers.join()}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
    ],
    { logFile: path.join(directory, 'kube-controller-manager.log') },
  );
}

async function writeKubeconfig(directory: string, url: string, ca: string): Promise<string> {
  const file = path.join(directory, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  };
  await fs.writeFile(file, stringify(config), { mode: 0o600 });
  return file;
}
