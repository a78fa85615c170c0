import { createHash } from 'node:crypto';
import { Command } from 'commander';
import { runAgent, type AgentOptions } from '../../gateway/agent/agent.ts';
import { LinuxKernel } from '../../gateway/agent/linux-kernel.ts';
import { MemoryKernel } from '../../gateway/agent/memory-kernel.ts';
import { announcerKind } from '../../gateway/agent/announce/kinds.ts';
import { agentSettings, type AgentSettings } from '../../gateway/agent/settings.ts';
import { settingsProblems } from '../../gateway/agent/settings-problems.ts';
import { trimMemory } from '@causeway/netlink/trim-memory';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import { watchProcess } from '@causeway/base/observability/event-loop-delay';
import { createLog } from '@causeway/base/observability/logger';
import { startObservabilityServer } from '@causeway/base/observability/observability-server';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { Readiness } from '@causeway/base/observability/readiness';
import { systemClock } from '@causeway/base/time/clock';
import { collectWhenIdle, ownMemory } from '@causeway/base/process/collect-when-idle';
import { supervise } from '@causeway/base/work/supervisor';
import { addConfigOptions, readConfig } from '../config/options.ts';
import { readTextFile } from '../terminal/read-text-file.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { causewayVersion } from '../terminal/version.ts';

/** `causeway agent run`: the gateway's agent in the foreground. */
export function runAgentCommand(): Command {
  const command = new Command('run').description('run the agent (the default)');
  return addConfigOptions(command, agentSettings).action(async () => {
    await run(await readConfig(command, agentSettings), stopSignal());
  });
}

async function run(settings: AgentSettings, signal: AbortSignal): Promise<void> {
  const log = createLog({ ...settings.log, destination: process.stderr });
  if (settings.seedFile === undefined) {
    log.warn({}, 'seedFile is not set: clients can compute which backend they are sent to');
  }
  for (const problem of settingsProblems(settings))
    log.error({ problem }, 'the settings have a mistake');
  const metrics = new PrometheusMetrics();
  const readiness = new Readiness();
  let problem: string | undefined = 'the accepted configuration is not applied yet';
  readiness.add('agent', () => problem);
  const observe = await startObservabilityServer({
    host: settings.metrics.address,
    port: settings.metrics.port,
    metrics,
    readiness,
  });
  const seed = await readSeed(settings.seedFile);
  const kernel = await openKernel(settings, seed.hashSeed);
  try {
    const parts: AgentOptions = {
      settings,
      kernel,
      clock: systemClock,
      log,
      metrics,
      version: causewayVersion(),
      seed: seed.digest,
      metricsPage: async () => ({ type: metrics.contentType, body: await metrics.render() }),
      onReady(url) {
        problem = undefined;
        log.info({ url }, 'the agent is ready');
      },
    };
    await supervise(signal, {
      'process metrics': (inner) => watchProcess(systemClock, metrics, inner),
      'free memory': (inner) => collectWhenIdle(systemClock, inner, ownMemory(trimMemory)),
      agent: (inner) => runAgent(parts, inner),
    });
  } finally {
    await kernel.close();
    await observe.close();
  }
}

async function openKernel(
  settings: AgentSettings,
  hashSeed: number,
): Promise<LinuxKernel | MemoryKernel> {
  const { driver } = settings.nftables;
  const layout = layoutSettings(settings, hashSeed);
  if (driver === 'memory') return new MemoryKernel(layout);
  const { external, internal } = settings;
  const links = {
    ...(external === undefined ? {} : { external: external.interface }),
    ...(internal === undefined ? {} : { internal: internal.interface }),
  };
  const { settingsDirectory } = settings;
  return LinuxKernel.open({ driver, layout, links, settingsDirectory });
}

function layoutSettings(settings: AgentSettings, hashSeed: number): LayoutSettings {
  const { table, localSources } = settings.nftables;
  return {
    table,
    hashSeed,
    localSources,
    hairpin: false,
    resumeConnections: true,
    ...announcerKind(settings).layout(settings),
  };
}

/**
 * Derives a number from the secret, so that outsiders can't compute which backend a client is sent to. The digest
 * is derived separately, and too short to guess the secret from it.
 */
async function readSeed(
  file: string | undefined,
): Promise<{ readonly hashSeed: number; readonly digest: string }> {
  const secret = file === undefined ? '' : (await readTextFile(file)).trim();
  const hashSeed = createHash('sha256').update(secret).digest().readUInt32BE(0);
  const digest = createHash('sha256').update(`digest of the seed: ${secret}`).digest('hex');
  return { hashSeed, digest: digest.slice(0, 4) };
}
