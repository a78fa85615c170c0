import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { runBuild } from './build-attempts.ts';
import { cacheDirectory } from './cache-directory.ts';
import { withFileLock } from './file-lock.ts';
import { MissingError } from './missing.ts';
import { runProgram } from './run-program.ts';

const kubernetesVersion = '1.36.3';
const etcdVersion = '3.6.16';
const helmVersion = '4.3.1';

interface ProgramSource {
  /** The directory below `binaries/` with the go.mod and go.sum that pin the build. */
  readonly module: string;
  readonly version: string;
  readonly package: string;
  readonly ldflags: string;
  /** Build its tests, as one program. */
  readonly isTest?: boolean;
}

const kubernetesFlags = [
  `-X k8s.io/component-base/version.gitVersion=v${kubernetesVersion}`,
  ...['gitMajor', 'gitMinor'].map(
    (name, index) =>
      `-X k8s.io/component-base/version.${name}=${kubernetesVersion.split('.')[index]}`,
  ),
].join(' ');

const kubernetes = (name: string): ProgramSource => ({
  module: 'kubernetes',
  version: kubernetesVersion,
  package: `k8s.io/kubernetes/cmd/${name}`,
  ldflags: kubernetesFlags,
});

/** Kubernetes' own end-to-end tests, and their programs. */
const upstream = (name: string, isTest = false): ProgramSource => ({
  ...kubernetes(name),
  module: 'upstream',
  package: `k8s.io/kubernetes/test/${name}`,
  isTest,
});

const metallb = (name: string): ProgramSource => ({
  module: 'metallb',
  version: '0.15.3',
  package: `go.universe.tf/metallb/${name}`,
  ldflags: '',
});

const sources = {
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  'kube-proxy': kubernetes('kube-proxy'),
  kubelet: kubernetes('kubelet'),
  kubectl: kubernetes('kubectl'),
  etcd: {
    module: 'etcd',
    version: etcdVersion,
    package: 'go.etcd.io/etcd/server/v3',
    ldflags: '',
  },
  'e2e.test': upstream('e2e', true),
  agnhost: upstream('images/agnhost'),
  'regression-issue-74839': upstream('images/regression-issue-74839'),
  ginkgo: { ...upstream('ginkgo'), package: 'github.com/onsi/ginkgo/v2/ginkgo' },
  'kube-vip': {
    module: 'kube-vip',
    version: '1.0.0',
    package: 'github.com/kube-vip/kube-vip',
    ldflags: '',
  },
  'metallb-controller': metallb('controller'),
  'metallb-speaker': metallb('speaker'),
  /** With a selection of plugins. */
  coredns: {
    module: 'coredns',
    version: '1.15.0',
    package: 'causeway.dev/test/coredns',
    ldflags: '',
  },
  /** Program in the tests' containers. */
  workload: {
    module: 'workload',
    version: 'own',
    package: 'causeway.dev/test/workload',
    ldflags: '',
  },
  helm: {
    module: 'helm',
    version: helmVersion,
    package: 'helm.sh/helm/v4/cmd/helm',
    ldflags: `-X helm.sh/helm/v4/internal/version.version=v${helmVersion}`,
  },
  /** A linearizability checker with the model of the allocator. */
  porcupine: {
    module: 'porcupine',
    version: '1.3.1',
    package: 'causeway.dev/test/porcupine',
    ldflags: '',
  },
} satisfies Record<string, ProgramSource>;

export type ProgramName = keyof typeof sources;

/**
 * The path of a real program for tests: from KUBEBUILDER_ASSETS, from the cache, or built once from its
 * pinned Go module.
 */
export async function ensureProgram(name: ProgramName): Promise<string> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  const provided = assets === undefined ? undefined : path.join(assets, name);
  if (provided !== undefined && (await isExecutable(provided))) return provided;
  const source: ProgramSource = sources[name];
  const version = await versionOf(source);
  const built = cacheDirectory('programs', `${source.module}-${version}`, name);
  if (await isExecutable(built)) return built;
  await withFileLock(cacheDirectory('build.lock'), async () => {
    if (!(await isExecutable(built))) await build(name, source, built);
  });
  return built;
}

/** The tests' own programs are rebuilt when they change: their sources are part of their version. */
async function versionOf({ module, package: main, version }: ProgramSource): Promise<string> {
  if (!main.startsWith('causeway.dev/')) return version;
  const folder = path.join(import.meta.dirname, 'binaries', module);
  const hash = createHash('sha256');
  for (const file of (await fs.readdir(folder)).sort()) {
    hash.update(`${file}\n`).update(await fs.readFile(path.join(folder, file)));
  }
  return `${version}-${hash.digest('hex').slice(0, 12)}`;
}

async function build(name: string, source: ProgramSource, target: string): Promise<void> {
  const go = await runProgram('go', ['version']).catch(() => undefined);
  if (go === undefined) {
    throw new MissingError(
      `${name} is missing: install Go 1.26 or newer, or point KUBEBUILDER_ASSETS at a folder that has it`,
    );
  }
  process.stderr.write(
    `Building ${name} ${source.version} (once; up to 4 minutes on 2 cores)...\n`,
  );
  await fs.mkdir(path.dirname(target), { recursive: true });
  const unfinished = `${target}.${process.pid}`;
  const verb = source.isTest === true ? ['test', '-c', '-vet=off'] : ['build'];
  try {
    await runBuild({
      name,
      // Tests that run at the same time have priority.
      compiler: 'nice',
      args: [
        ...['-n', '10', 'go'],
        ...[...verb, '-trimpath', '-ldflags', `-s -w ${source.ldflags}`],
        ...['-o', unfinished, source.package],
      ],
      options: {
        cwd: path.join(import.meta.dirname, 'binaries', source.module),
        env: { CGO_ENABLED: '0', GOCACHE: cacheDirectory('go-build'), GOFLAGS: '-mod=readonly' },
      },
      timeoutMs: 1_800_000,
    });
  } catch (error) {
    await fs.rm(unfinished, { force: true });
    throw error;
  }
  await fs.rename(unfinished, target);
}

/** The directory of a program's published sources. */
export async function sourceDirectory(name: ProgramName): Promise<string> {
  const { module, package: main }: ProgramSource = sources[name];
  const { code, stdout, stderr } = await runProgram(
    'go',
    ['list', '-f', '{{.Module.Dir}}{{with .Module.Replace}} {{.Dir}}{{end}}', main],
    {
      cwd: path.join(import.meta.dirname, 'binaries', module),
      env: { GOFLAGS: '-mod=readonly' },
    },
  );
  const directory = stdout.trim().split(' ').at(-1);
  if (code !== 0 || directory === undefined) throw new MissingError(`${name}: ${stderr.trim()}`);
  return directory;
}

/** The compiler's cache is ten times the size of its output; it is deleted when all builds are done. */
export async function dropBuildCache(): Promise<void> {
  await withFileLock(cacheDirectory('build.lock'), () =>
    fs.rm(cacheDirectory('go-build'), { recursive: true, force: true }),
  );
}

async function isExecutable(file: string): Promise<boolean> {
  return fs.access(file, fs.constants.X_OK).then(
    () => true,
    () => false,
  );
}
