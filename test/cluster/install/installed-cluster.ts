import fs from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { freePort } from '../../services/free-port.ts';
import { startKubernetes, type RealKubernetes } from '../../services/kubernetes.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import {
  logTail,
  startServiceProcess,
  type ServiceProcess,
} from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { auditPolicy, refusedOf, unusedOf, usesOf, type Role } from './permission-use.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');
export const kustomizeFolder = path.join(root, 'deploy', 'kustomize');
const main = path.join(root, 'packages', 'causeway', 'src', 'cli', 'main.ts');

/** An object of a manifest, with the fields that tests read. */
export interface ShippedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly env: readonly {
      readonly name: string;
      readonly value?: string;
      readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
    }[];
  }[];
}

export interface RunningJob {
  readonly process: ServiceProcess;
  /** URL of health and metrics. */
  readonly url: string;
  readonly logFile: string;
  stop(): Promise<void>;
}

/**
 * A real kube-apiserver with its controllers, where the shipped manifests are installed, and which logs the
 * requests of each account.
 */
export class InstalledCluster {
  readonly kubernetes: RealKubernetes;
  readonly directory: string;
  readonly #kubectl: string;
  #runs = 0;
  #countedFrom = 0;

  private constructor(kubernetes: RealKubernetes, directory: string, kubectl: string) {
    this.kubernetes = kubernetes;
    this.directory = directory;
    this.#kubectl = kubectl;
  }

  static async start(controllers: readonly string[] = []): Promise<InstalledCluster> {
    const directory = await scratchDirectory('install');
    const file = (name: string) => path.join(directory, name);
    await fs.writeFile(file('audit-policy.yaml'), stringify(auditPolicy));
    await fs.writeFile(file('audit.log'), '');
    const kubernetes = await startKubernetes({
      flags: [
        `--audit-policy-file=${file('audit-policy.yaml')}`,
        `--audit-log-path=${file('audit.log')}`,
      ],
      ...(controllers.length === 0 ? {} : { controllerManager: true, controllers }),
    });
    return new InstalledCluster(kubernetes, directory, await ensureProgram('kubectl'));
  }

  async stop(): Promise<void> {
    await this.kubernetes.stop();
    await removeDirectory(this.directory);
  }

  file(name: string): string {
    return path.join(this.directory, name);
  }

  kubectl(...words: string[]): Promise<string> {
    return runOrThrow(this.#kubectl, ['--kubeconfig', this.kubernetes.kubeconfig, ...words]);
  }

  async apply(...objects: object[]): Promise<void> {
    const input = objects.map((object) => stringify(object)).join('---\n');
    const words = ['--kubeconfig', this.kubernetes.kubeconfig, 'apply', '-f', '-'];
    await runOrThrow(this.#kubectl, words, { input });
  }

  async get<T>(...words: string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', ...words, '-o', 'json')) as T;
  }

  /** Objects of an overlay. */
  async shipped(overlay: string): Promise<ShippedObject[]> {
    const folder = path.join(kustomizeFolder, 'overlays', overlay);
    return objectsOf(await runOrThrow(this.#kubectl, ['kustomize', folder]));
  }

  async install(overlay: string): Promise<void> {
    await this.kubectl('apply', '-k', path.join(kustomizeFolder, 'overlays', overlay));
  }

  /** Removes all permissions, and what was created with them: the next job starts anew. */
  async clear(): Promise<void> {
    const ours = ['-l', 'app.kubernetes.io/name=causeway'];
    await this.kubectl('delete', 'clusterroles,clusterrolebindings', ...ours);
    const made = 'roles,rolebindings,leases,configmaps';
    await this.kubectl('delete', made, '--all', '-n', 'causeway-system');
    await this.kubectl('delete', 'roles,rolebindings', ...ours, '-n', 'kube-system');
  }

  /** A kubeconfig with only a token of the service account. */
  async kubeconfigOf(namespace: string, account: string): Promise<string> {
    const token = await this.kubectl('create', 'token', account, '-n', namespace);
    const data = Buffer.from(this.kubernetes.ca).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'test',
          cluster: { server: this.kubernetes.url, 'certificate-authority-data': data },
        },
      ],
      users: [{ name: account, user: { token: token.trim() } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: account } }],
      'current-context': 'test',
    };
    const file = this.file(`${account}.kubeconfig`);
    await fs.writeFile(file, stringify(config), { mode: 0o600 });
    return file;
  }

  /** Launches a job and waits until it is ready. */
  async run(
    overlay: string,
    settings: object,
    files: Readonly<Record<string, string>> = {},
  ): Promise<RunningJob> {
    const job = await this.launch(overlay, settings, files);
    await waitFor(`${overlay} to be ready`, async () => {
      if (!job.process.isRunning()) throw new HopelessError(`it ended:\n${logTail(job.logFile)}`);
      const answer = await fetch(`${job.url}/readyz`);
      if (answer.status === 200) return true;
      throw new Error(`${await answer.text()}\n${logTail(job.logFile)}`);
    });
    return job;
  }

  /**
   * Runs a job's command like its pod: the shipped arguments and variables, its service account, these
   * settings.
   */
  async launch(
    overlay: string,
    settings: object,
    files: Readonly<Record<string, string>> = {},
  ): Promise<RunningJob> {
    const { namespace, spec } = podOf(await this.shipped(overlay));
    const [container] = spec.containers;
    if (container === undefined) throw new Error(`${overlay} has no container`);
    this.#runs += 1;
    const home = this.file(`pod-${this.#runs}`);
    await fs.mkdir(path.join(home, 'config'), { recursive: true });
    await fs.mkdir(path.join(home, 'secrets'), { recursive: true });
    const here = (text: string) => text.replaceAll('/etc/causeway/', `${home}/`);
    const args = container.args.map(here);
    await fs.writeFile(args.at(-1) ?? '', here(stringify(settings)));
    for (const [name, text] of Object.entries(files)) {
      await fs.writeFile(path.join(home, 'secrets', name), text);
    }
    const port = await freePort();
    const env: Record<string, string> = {};
    for (const { name, value, valueFrom } of container.env) {
      env[name] = here(value ?? downward(valueFrom?.fieldRef.fieldPath ?? '', namespace));
    }
    env['KUBECONFIG'] = await this.kubeconfigOf(namespace, spec.serviceAccountName);
    env['CAUSEWAY_OBSERVE_PORT'] = String(port);
    const logFile = path.join(home, 'log');
    const running = startServiceProcess(process.execPath, [main, ...args], { logFile, env });
    const url = `http://127.0.0.1:${port}`;
    return { process: running, url, logFile, stop: () => running.stop(20_000) };
  }

  /** Requests of a service account (`namespace:name`) that were forbidden since the last reset. */
  async refused(account: string): Promise<string[]> {
    return refusedOf(await this.#uses(account));
  }

  /** Waits until every permission of the roles has been used, except the occasional ones. */
  async allUsed(
    account: string,
    roles: readonly Role[],
    exceptions: readonly string[],
  ): Promise<void> {
    await waitFor(
      `all permissions of ${account} to be used`,
      async () => {
        const unused = unusedOf(roles, await this.#uses(account));
        const left = unused.filter((each) => !exceptions.includes(each));
        if (left.length > 0) throw new Error(left.join('\n'));
        return true;
      },
      { intervalMs: 500 },
    );
  }

  /** Resets the recorded requests. */
  async resetUses(): Promise<void> {
    this.#countedFrom = (await fs.stat(this.file('audit.log'))).size;
  }

  #uses(account: string) {
    return usesOf(this.file('audit.log'), this.#countedFrom, `system:serviceaccount:${account}`);
  }
}

export function objectsOf(text: string): ShippedObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as ShippedObject | null)
    .filter((object) => object !== null);
}

export const rolesIn = (objects: readonly ShippedObject[]): Role[] =>
  objects.filter(({ kind }) => /^(?:Cluster)?Role$/.test(kind)) as unknown as Role[];

function podOf(objects: readonly ShippedObject[]): { namespace: string; spec: PodSpec } {
  const workload = objects.find(({ kind }) => /^(?:Deployment|StatefulSet|DaemonSet)$/.test(kind));
  const { spec } = workload as unknown as { spec: { template: { spec: PodSpec } } };
  return { namespace: workload?.metadata.namespace ?? '', spec: spec.template.spec };
}

/** Value that a kubelet sets for the field. */
function downward(field: string, namespace: string): string {
  switch (field) {
    case 'metadata.namespace':
      return namespace;
    case 'status.podIP':
    case 'status.hostIP':
      return '127.0.0.1';
    case 'spec.nodeName':
      return 'node-1';
    default:
      throw new Error(`unknown field ${field}`);
  }
}
