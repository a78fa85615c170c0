import type { ProgramName } from '../test/services/programs.ts';

// The one list of test suites. vitest.config.ts, scripts/test.ts, test/services/prepare.ts and the table
// in CONTRIBUTING.md are made from it; scripts/suites.test.ts checks package.json.

/** More than one program: test/services/prepare.ts knows how each part is made. */
export type Part = 'OpenStack' | 'real cluster' | 'product image' | 'fresh machine';

/** The npm scripts that run suites. */
export type SuiteScript = 'test' | 'test:long' | 'test:cluster';

export interface Suite {
  readonly name: string;
  /** What the suite tests, for the table in CONTRIBUTING.md. */
  readonly content: string;
  readonly folders: readonly string[];
  readonly script: SuiteScript;
  /** Lanes run at the same time: the tests of one mostly compute, those of the other mostly wait. */
  readonly lane: 'computing' | 'waiting';
  /** About how many minutes the suite takes on 2 cores: CI has 45 for everything. */
  readonly minutes: number;
  /** Files that run at the same time. */
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

/** Each lane runs in this order. Programs are built in this order, so suites that need few come first. */
export const suites: readonly Suite[] = [
  {
    name: 'unit',
    content: 'the tests beside the sources; hostile input; state that older versions stored',
    folders: [
      ...['packages/*/src', 'scripts', 'bench', 'test/services'],
      ...['test/upstream', 'test/chaos', 'test/fuzz', 'test/upgrade'],
    ],
    script: 'test',
    lane: 'computing',
    minutes: 4,
    filesAtOnce: 2,
    timeoutMinutes: 5,
    ...nothing,
  },
  {
    name: 'simulation',
    content: 'a cluster and a cloud on one seed',
    folders: ['test/simulation'],
    script: 'test',
    lane: 'computing',
    minutes: 6,
    filesAtOnce: 2,
    timeoutMinutes: 15,
    ...nothing,
  },
  {
    name: 'browser',
    content: 'the dashboard in Chromium',
    folders: ['test/browser'],
    script: 'test',
    lane: 'computing',
    minutes: 1,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    ...nothing,
    debianPackages: ['chromium'],
  },
  {
    name: 'product',
    content: 'the command line as a user types it',
    folders: ['test/product'],
    script: 'test',
    lane: 'waiting',
    minutes: 8,
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
    lane: 'waiting',
    minutes: 19,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-proxy'],
    parts: [],
  },
  {
    name: 'contract',
    content: 'one suite over every implementation, the real service among them',
    folders: ['test/contract'],
    script: 'test',
    lane: 'computing',
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
    lane: 'waiting',
    minutes: 2,
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
    lane: 'computing',
    minutes: 6,
    filesAtOnce: 1,
    timeoutMinutes: 15,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-proxy', 'helm'],
    parts: ['OpenStack', 'real cluster', 'product image'],
  },
  {
    name: 'long',
    content: 'idling under load; real kube-vip and MetalLB',
    folders: ['test/long'],
    script: 'test:long',
    lane: 'waiting',
    minutes: 15,
    filesAtOnce: 1,
    timeoutMinutes: 60,
    debianPackages: networkTools,
    programs: [...kubernetes, 'kube-vip', 'metallb-controller', 'metallb-speaker'],
    parts: [],
  },
  {
    name: 'cluster-long',
    content: '[the long suites on a real cluster](docs/real-cluster.md#the-long-suites)',
    folders: ['test/cluster-long'],
    script: 'test:cluster',
    lane: 'waiting',
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
