// Kubernetes' own end-to-end tests for networking on the real cluster, with Causeway's proxy on nodes where
// kube-proxy never ran. The last line is "N of N passed"; the table is written to --output.
//
//   npm run test:upstream                              the tests of baseline.txt
//   npm run test:upstream -- --proxy kube-proxy        the same with kube-proxy
//   npm run test:upstream -- --load-balancer gateway --match LoadBalancers    ours, in place of the tests' own
//   npm run test:upstream -- --load-balancer pool-node --match LoadBalancers
//   npm run test:upstream -- --nodes 6 --match 'Traffic Distribution'
//   npm run test:upstream -- --dual-stack                the tests of baseline-dual-stack.txt
//   npm run test:upstream -- --match Services --skip 'Slow|rolling update'

import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { stopSignal } from '../../packages/causeway/src/cli/terminal/stop-signal.ts';
import { orEnd } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import type { Machine } from '../services/real-cluster/machine.ts';
import { prepareRealCluster, RealCluster } from '../services/real-cluster/real-cluster.ts';
import { loadBalancers } from './load-balancers.ts';
import { startNodeProxies } from './node-proxies.ts';
import { focusOf, readReport, type TestOutcome } from './report.ts';
import { ensureSuiteImages } from './suite-images.ts';

const { values } = parseArgs({
  options: {
    proxy: { type: 'string', default: 'causeway' },
    match: { type: 'string', default: '.' },
    skip: { type: 'string', default: '^$' },
    'dual-stack': { type: 'boolean', default: false },
    'load-balancer': { type: 'string', default: 'routed' },
    nodes: { type: 'string', default: '3' },
    processes: { type: 'string' },
    timeout: { type: 'string', default: '2h' },
    output: { type: 'string', default: 'upstream-results' },
  },
});

const loadBalancer = loadBalancers[values['load-balancer']];
if (loadBalancer === undefined) {
  throw new Error(`--load-balancer is one of ${Object.keys(loadBalancers).join(', ')}`);
}
const dualStack = values['dual-stack'];
const baseline = dualStack ? 'baseline-dual-stack.txt' : 'baseline.txt';
const list = await fs.readFile(path.join(import.meta.dirname, baseline), 'utf8');
const chosen = list
  .split('\n')
  .filter((name) => name !== '' && new RegExp(values.match).test(name))
  .filter((name) => !new RegExp(values.skip).test(name))
  .filter((name) => loadBalancer.leavesOut?.test(name) !== true);
const processes = values.processes ?? String(loadBalancer.processes ?? 4);
const output = path.resolve(values.output);
await fs.mkdir(output, { recursive: true });

await orEnd(prepareRealCluster);
const images = await orEnd(ensureSuiteImages);
const stop = stopSignal();
const cluster = await RealCluster.start({
  nodes: Number(values.nodes),
  kubeProxy: values.proxy === 'kube-proxy',
  dualStack,
  images: [images],
});
stop.addEventListener('abort', () => void breakOff());
if (stop.aborted) await breakOff();
try {
  if (values.proxy === 'causeway') await startNodeProxies(cluster);
  await nameZones();
  const client = await loadBalancer.start(cluster);
  await cluster.kubectl('-n', 'kube-system', 'rollout', 'status', 'deployment/coredns');
  await runSuite(client);
} finally {
  await fs.cp(path.dirname(cluster.files.log('any')), path.join(output, 'logs'), {
    recursive: true,
  });
  await cluster.stop();
}
const outcomes = readReport(await fs.readFile(path.join(output, 'report.json'), 'utf8'));
process.exit(await report(outcomes));

async function breakOff(): Promise<never> {
  await cluster.stop();
  process.exit(130);
}

/** Three zones: some tests check where traffic goes, and need six nodes. */
async function nameZones(): Promise<void> {
  for (const { name, place } of cluster.nodes) {
    const zone = `topology.kubernetes.io/zone=z${((place.number - 1) % 3) + 1}`;
    await cluster.kubectl('label', 'node', name, zone, 'topology.kubernetes.io/region=r1');
  }
}

async function runSuite(client: Machine): Promise<void> {
  const [ginkgo, tests, kubectl] = [
    await ensureProgram('ginkgo'),
    await ensureProgram('e2e.test'),
    await ensureProgram('kubectl'),
  ];
  const words = [
    ...[`--procs=${processes}`, '--no-color', `--timeout=${values.timeout}`],
    ...['--poll-progress-after=0s', '--silence-skips', `--focus=${focusOf(chosen)}`],
    ...[`--output-dir=${output}`, '--json-report=report.json', tests, '--'],
    ...['--provider=skeleton', `--kubeconfig=${cluster.kubeconfig}`, `--kubectl-path=${kubectl}`],
    ...[`--num-nodes=${cluster.nodes.length}`, '--node-os-distro=debian'],
    ...['--disable-log-dump=true', '--dump-logs-on-failure=false'],
  ];
  const env = { HOME: cluster.files.root };
  const suite = client.start('suite', ginkgo, words, env);
  await suite.exited;
}

async function report(found: readonly TestOutcome[]): Promise<number> {
  const byName = new Map(found.map((outcome) => [outcome.name, outcome]));
  const lines = chosen.map((name) => {
    const { state = 'not run', seconds = 0, message = '' } = byName.get(name) ?? {};
    return `${state.padEnd(8)} ${String(seconds).padStart(4)} s  ${name}${message && `\n         ${message}`}`;
  });
  const passed = chosen.filter((name) => byName.get(name)?.state === 'passed').length;
  const summary = `${passed} of ${chosen.length} passed`;
  await fs.writeFile(path.join(output, 'table.txt'), `${lines.join('\n')}\n${summary}\n`);
  const missed = lines.filter((line) => !line.startsWith('passed'));
  process.stdout.write(`${[...missed, summary].join('\n')}\n`);
  return passed === chosen.length ? 0 : 1;
}
