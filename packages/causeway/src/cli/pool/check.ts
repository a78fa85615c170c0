import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { PendingReleases } from '../../pool/pending-releases.ts';
import { LedgerCheck, type Repair } from '../../pool/ledger-check.ts';
import { PoolLedger } from '../../pool/pool-ledger.ts';
import type { ControllerSettings } from '../controller/settings.ts';
import { systemClock } from '@causeway/base/time/clock';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { clusterFlags } from '../controller/query-options.ts';
import { ipamClient, required } from '../controller/pool.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { ProgressBars } from '../terminal/progress.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

interface CheckOptions {
  readonly repair?: boolean;
  readonly all?: boolean;
  readonly output: OutputFormat;
}

/** Flags to reach the cluster and the ledger. */
const ledgerFlags = [
  ...clusterFlags,
  '--pool-servers',
  '--pool-site',
  '--pool-cluster',
  '--pool-token-file',
  '--pool-authority-file',
  '--pool-announcer',
  '--pool-classes',
] as const;

/** `causeway pool check`: compares this cluster with the shared ledger. */
export function checkPoolCommand(): Command {
  const command = new Command('check')
    .description('list differences between the cluster and the ledger; fails if there are any')
    .option(
      '--repair',
      'release leaked reservations, and reserve again addresses that the ledger has lost',
    )
    .option('--all', "also if that releases more than half of the cluster's addresses");
  addOutputOption(addQueryOptions(command, controllerCommandSettings, ledgerFlags));
  return command.action(async (options: CheckOptions) => {
    const settings = await readConfig(command, controllerCommandSettings);
    const signal = stopSignal();
    await withCheck(settings, (check) => report(check, options, signal));
  });
}

async function report(
  check: LedgerCheck,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<void> {
  const progress = new ProgressBars();
  const repairs = await compare(check, options, progress, signal).finally(() => progress.clear());
  const rows = repairs.map(({ finding, outcome }) => ({ ...finding, outcome }));
  printObjects(options.output, rows, [
    { title: 'finding', value: ({ kind }) => kind },
    { title: 'service', value: ({ service }) => service },
    { title: 'addresses', value: ({ addresses }) => addresses.join(',') },
    { title: 'what to do', value: ({ outcome, message }) => outcome || message },
  ]);
  const differences = rows.filter(({ kind }) => kind !== 'releasing').length;
  if (options.repair === true || differences === 0) return;
  throw new CausewayError('conflict', `${differences} differences between cluster and ledger`, {
    hint: '"causeway pool check --repair" repairs the differences that are safe to repair.',
  });
}

async function compare(
  check: LedgerCheck,
  { repair, all }: CheckOptions,
  progress: ProgressBars,
  signal: AbortSignal,
): Promise<Repair[]> {
  const found = await check.findings(signal, progress);
  if (repair === true) return check.repair(found, all === true, signal, progress);
  return found.findings.map((finding) => ({ finding, outcome: '' }));
}

async function withCheck(
  settings: ControllerSettings,
  work: (check: LedgerCheck) => Promise<void>,
): Promise<void> {
  const { kubeconfig, context, pool } = settings;
  const clock = systemClock;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  const ipam = await ipamClient(pool, clock);
  const site = required(pool.site, 'pool.site');
  const cluster = required(pool.cluster, 'pool.cluster');
  try {
    const releases = new PendingReleases(client, settings.leaderElection.namespace);
    await work(new LedgerCheck(client, new PoolLedger(ipam, { site, cluster }), releases));
  } finally {
    await ipam.close();
    await client.close();
  }
}
