import type { ProgramName } from '../test/services/programs.ts';

// The only list of test suites. vitest.config.ts, scripts/test.ts, test/services/prepare.ts and the table in
// CONTRIBUTING.md use it; scripts/suites.test.ts checks package.json.

/** More than one program: test/services/prepare.ts prepares each part. */
export type Part = 'OpenStack' | 'real cluster' | 'product image' | 'fresh machine';

/** The npm scripts that run suites. */
export type SuiteScript = 'test' | 'test:long' | 'test:cluster';

export interface Suite {
  readonly name: string;
  /** Content of the suite, for the table in CONTRIBUTING.md. */
  readonly content: string;
  readonly folders: readonly string[];
  readonly script: SuiteScript;
  /** Groups run in parallel: the tests of one mostly compute, those of the other mostly wait. */
  readonly group: 'computing' | 'waiting';
  /** Approximate minutes of the suite on 2 cores while the other group runs: CI has 45 for everything. */
  readonly minutes: number;
  /** Number of parallel files. */
  readonly filesAtOnce: number;
  /** Ends a test that hangs. A busy machine is not a fault, so this is far more than a test takes. */
  readonly timeoutMinutes: number;
  readonly debianPackages: readonly string[];
  readonly programs: readonly ProgramName[];
  readonly parts: readonly Part[];
}

const nothing = { debianPackages: [], programs: [], parts: [] } as const;
const kubernetes = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
const networkTools = [
  ...['conntrack', 'curl', 'iproute2', 'iputils-arping', 'iputils-ping'],
  ...['keepalived', 'nftables', 'openssl', 'procps'],
] as const;

/** Each group runs in this order. Programs are built in this order, so suites that need few come first. */
export const suites: readonly Suite[] = [
  {
    name: 'unit',
    content: 'the tests beside the sources; hostile input; state that older versions stored',
    folders: [
      ...['packages/*/src', 'scripts', 'bench', 'test/services'],
      ...['test/upstream', 'test/chaos', 'test/connections', 'test/fuzz', 'test/upgrade'],
    ],
    script: 'test',
    group: 'computing',
    minutes: 12,
    filesAtOnce: 2,
    timeoutMinutes: 5,
    ...nothing,
  },
  {
    name: 'simulation',
    content: 'a cluster and a cloud on one seed',
    folders: ['test/simulation'],
    script: 'test',
    group: 'computing',
    minutes: 11,
    filesAtOnce: 2,
    timeoutMinutes: 15,
    ...nothing,
  },
  {
    name: 'browser',
    content: 'the dashboard in Chromium',
    folders: ['test/browser'],
    script: 'test',
    group: 'computing',
    minutes: 1,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    ...nothing,
    debianPackages: ['chromium'],
  },
  {
    name: 'product',
    content: 'the command line, used like a user',
    folders: ['test/product'],
    script: 'test',
    group: 'waiting',
    minutes: 12,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: [...networkTools, 'fish', 'prometheus', 'systemd', 'zsh'],
    programs: ['kubectl'],
    parts: ['fresh machine'],
  },
  {
    name: 'kernel',
    content: 'network namespaces, real nftables and keepalived',
    folders: ['test/kernel'],
    script: 'test',
    group: 'waiting',
    minutes: 15,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-proxy'],
    parts: [],
  },
  {
    name: 'connections',
    content: 'running connections under events: the short form of `test/long/connections`',
    folders: ['test/running-connections'],
    script: 'test',
    group: 'computing',
    minutes: 2,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: networkTools,
    programs: ['kube-proxy'],
    parts: [],
  },
  {
    name: 'contract',
    content: 'one suite on every implementation, including the real service',
    folders: ['test/contract'],
    script: 'test',
    group: 'computing',
    minutes: 14,
    filesAtOnce: 2,
    timeoutMinutes: 15,
    debianPackages: networkTools,
    programs: [...kubernetes, 'porcupine'],
    parts: ['OpenStack'],
  },
  {
    name: 'cloud',
    content: 'real OpenStack',
    folders: ['test/cloud'],
    script: 'test',
    group: 'waiting',
    minutes: 3,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: ['openssl'],
    programs: kubernetes,
    parts: ['OpenStack'],
  },
  {
    name: 'cluster',
    content:
      'real kube-apiserver; in `cluster/real` [nodes with kubelets and containers](docs/real-cluster.md)',
    folders: ['test/cluster'],
    script: 'test',
    group: 'waiting',
    minutes: 10,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-proxy', 'helm'],
    parts: ['OpenStack', 'real cluster', 'product image'],
  },
  {
    name: 'long',
    content: 'connections under events, half an hour; idling under load; real kube-vip and MetalLB',
    folders: ['test/long'],
    script: 'test:long',
    group: 'waiting',
    minutes: 50,
    filesAtOnce: 1,
    timeoutMinutes: 60,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-proxy', 'kube-vip', 'metallb-controller', 'metallb-speaker'],
    parts: [],
  },
  {
    name: 'cluster-long',
    content: '[the long suites on a real cluster](docs/real-cluster.md#the-long-suites)',
    folders: ['test/cluster-long'],
    script: 'test:cluster',
    group: 'waiting',
    minutes: 45,
    filesAtOnce: 1,
    timeoutMinutes: 60,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-proxy', 'helm'],
    parts: ['OpenStack', 'real cluster', 'product image'],
  },
];

export function suitesOf(script: string): readonly Suite[] {
  return suites.filter((suite) => suite.script === script);
}
