import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { tryParseAddress } from '@causeway/base/address/address';
import { openLedger, readIfNamed } from '../../ipam/open-ledger.ts';
import { startReplica } from '../../ipam/replica.ts';
import {
  auditRetentionMs,
  ipamServerSettings,
  type IpamServerSettings,
} from '../../ipam/settings.ts';
import { openPlatforms } from './platforms.ts';
import { createLog } from '@causeway/base/observability/logger';
import { startObservabilityServer } from '@causeway/base/observability/observability-server';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { Readiness } from '@causeway/base/observability/readiness';
import { systemClock } from '@causeway/base/time/clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { addConfigOptions, readConfig } from '../config/options.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** `causeway ipam serve`: one server of the allocator. */
export function serveCommand(): Command {
  const command = new Command('serve').description('serve the allocator’s API');
  addConfigOptions(command, ipamServerSettings);
  return command.action(async () => serve(await readConfig(command, ipamServerSettings)));
}

async function serve(settings: IpamServerSettings): Promise<void> {
  const signal = stopSignal();
  const { listen, log: logging } = settings;
  const log = createLog({ ...logging, destination: process.stdout });
  const metrics = new PrometheusMetrics();
  const readiness = new Readiness();
  const tls = await readTls(settings);
  const ledger = await openLedger(settings, systemClock);
  const replica = await startReplica({
    ledger,
    clock: systemClock,
    log,
    metrics,
    ...listen,
    tls,
    rateLimit: settings.rateLimit,
    auditRetentionMs: auditRetentionMs(settings),
    platforms: await openPlatforms(
      settings.platforms,
      { log, metrics, clock: systemClock },
      ledger,
    ),
    signal,
  });
  readiness.add('ledger', () => replica.problem());
  readiness.addDegradation('writes to the ledger', () => replica.writeProblem());
  const observe = await startObservabilityServer({ ...settings.metrics, metrics, readiness });
  log.info({ url: replica.url, health: observe.url }, 'serving');
  try {
    await Promise.race([replica.done, whenAborted(signal)]);
  } finally {
    await observe.close();
    await replica.stop();
  }
  log.info({}, 'stopped');
}

async function readTls({ tls, listen, insecure }: IpamServerSettings) {
  const certificate = await readIfNamed(tls.certificateFile);
  const key = await readIfNamed(tls.keyFile);
  const clientAuthority = await readIfNamed(tls.clientAuthorityFile);
  if (certificate !== undefined && key !== undefined) return { certificate, key, clientAuthority };
  if (certificate !== undefined || key !== undefined || clientAuthority !== undefined) {
    throw new CausewayError('invalid', 'set both tls.certificateFile and tls.keyFile, or neither');
  }
  const address = tryParseAddress(listen.host);
  const isLoopback =
    listen.host === 'localhost' || address === '::1' || address?.startsWith('127.') === true;
  if (!isLoopback && !insecure) {
    throw new CausewayError(
      'invalid',
      `tokens would be sent to ${listen.host} without encryption`,
      {
        hint: 'Set tls.certificateFile and tls.keyFile, or insecure if another component encrypts.',
      },
    );
  }
  return undefined;
}
