import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { WakeUp } from '@causeway/base/work/wake-up';
import { Alarms } from './alarms.ts';
import type { Announcer } from './announce/announcer.ts';
import { announcerKind } from './announce/kinds.ts';
import { HarmlessRuleset } from './apply/harmless-ruleset.ts';
import { credentialFiles } from './credential-files.ts';
import { describeAgent } from './describe-agent.ts';
import { countsOfAll } from './frontend-counts.ts';
import { Gateway } from './gateway.ts';
import { loadCredentials, type Credentials } from './api/credentials.ts';
import { EventStream } from './api/event-stream.ts';
import { startAgentServer } from './api/server.ts';
import type { AgentStatus, FrontendCount } from '../protocol/agent-status.ts';
import { V1Api } from './api/v1-api.ts';
import { V2Api } from './api/v2-api.ts';
import { healthLoops } from './health-loops.ts';
import type { Kernel } from './kernel.ts';
import type { Overrides } from './overrides.ts';
import { openState, type AgentState } from './open-state.ts';
import type { OverrideName } from '../protocol/override.ts';
import { ConnectionPins } from './pins/connection-pins.ts';
import { pinLimits } from './pins/pin-limits.ts';
import { Probing } from './probe/probing.ts';
import { TargetsOfState } from './probe/targets.ts';
import { cutOffIllness, Relief } from './relief.ts';
import { socketFile, type AgentSettings } from './settings.ts';
import { servableHere } from './servable-here.ts';
import { BackendHealth } from './probe/backend-health.ts';
import type { StateStore } from './store/state-store.ts';
import { traceConnection } from './trace/trace-connection.ts';
import type { TraceAnswer, TraceQuestion } from '../protocol/trace.ts';
import { Maintenance } from './maintenance.ts';

export interface AgentOptions {
  readonly settings: AgentSettings;
  readonly kernel: Kernel;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  /** A digest of the seed that spreads clients over backends. */
  readonly seed?: string | undefined;
  metricsPage(): Promise<{ type: string; body: string }>;
  /**
   * Called when the API listens. At that time the accepted configuration is applied, or the agent retries it.
   */
  onReady(url: string): void;
}

const credentialsEveryMs = 5_000;

/** Runs a gateway's agent until the signal fires. */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const agent = await Agent.open(options, signal);
  try {
    await supervise(signal, agent.loops());
  } finally {
    await agent.close();
  }
}

class Agent {
  readonly #options: AgentOptions;
  readonly #store: StateStore;
  readonly #gateway: Gateway;
  readonly #overrides: Overrides;
  readonly #announcer: Announcer;
  readonly #alarms: Alarms;
  readonly #backendHealth: BackendHealth;
  readonly #events: EventStream;
  readonly #probing: Probing;
  readonly #relief: Relief;
  readonly #pins: ConnectionPins;
  readonly #healthDue = new WakeUp();
  readonly #statusDue = new WakeUp();
  readonly #upkeep: Maintenance;
  #credentials: Credentials;

  private constructor(options: AgentOptions, parts: AgentParts) {
    const { clock, log, metrics, settings, kernel } = options;
    this.#options = options;
    this.#store = parts.opened.store;
    this.#overrides = parts.overrides;
    this.#announcer = parts.announcer;
    this.#credentials = parts.credentials;
    this.#probing = parts.probing;
    this.#relief = new Relief(clock);
    this.#alarms = new Alarms(log, metrics, () => this.#statusDue.call());
    this.#pins = new ConnectionPins({
      kernel,
      limits: pinLimits,
      clock,
      log,
      metrics,
      role: () => parts.announcer.status().role,
    });
    this.#gateway = new Gateway({
      ruleset: new HarmlessRuleset(kernel.ruleset, servableHere(settings).taken, log),
      announcer: parts.announcer,
      store: parts.opened.store,
      stored: parts.opened.stored,
      doubt: parts.doubt,
      mark: parts.mark,
      overrides: parts.overrides,
      limits: settings.removal,
      unhealthy: parts.probing.ledger.unhealthy,
      clock,
      log,
      metrics,
      deleteConnections: (removed, each) => kernel.deleteConnections(removed, each),
      deleteStaleEntries: (services, each) => kernel.deleteStaleEntries(services, each),
    });
    this.#events = new EventStream(() => this.#controllerCameOrLeft());
    this.#backendHealth = new BackendHealth(
      this.#gateway,
      { log, clock, metrics },
      () => this.#events.hasListeners,
    );
    this.#backendHealth.see(parts.probing.ledger.unhealthy);
    this.#upkeep = new Maintenance({
      gateway: this.#gateway,
      overrides: parts.overrides,
      kernel,
      announcer: parts.announcer,
      alarms: this.#alarms,
      limits: settings.removal,
      clock,
      log,
      metrics,
    });
    parts.announcer.onChange((role, before) => {
      if (before === 'active' && role !== 'active') this.#pins.leftActiveRole();
      this.#statusDue.call();
    });
  }

  static async open(options: AgentOptions, signal: AbortSignal): Promise<Agent> {
    const { settings, kernel, clock, log, metrics } = options;
    await fs.mkdir(settings.runtimeDirectory, { recursive: true, mode: 0o700 });
    const credentials = await loadCredentials(credentialFiles(settings));
    const announcer = await announcerKind(settings).open(
      { settings, servable: servableHere(settings), kernel, clock, log, metrics },
      signal,
    );
    const kept = await openState(settings, log);
    await setDrained(announcer, kept.overrides.get('drained')?.reason);
    const probing = await Probing.open(settings, log);
    const agent = new Agent(options, { ...kept, probing, credentials, announcer });
    await agent.#restore(signal);
    return agent;
  }

  /**
   * A gateway that can't restore its configuration is degraded and keeps retrying. If the agent exited
   * instead, the controller could not send it a corrected configuration.
   */
  async #restore(signal: AbortSignal): Promise<void> {
    try {
      await this.#gateway.restore(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const problem = { error: CausewayError.from(error) };
      this.#options.log.error(problem, "the accepted configuration can't be restored yet");
    }
  }

  loops(): Record<string, Loop> {
    const { settings, clock, kernel, log, metrics } = this.#options;
    const [announcer, alarms, gateway] = [this.#announcer, this.#alarms, this.#gateway];
    const targets = new TargetsOfState(settings.probe.nodePort);
    return {
      api: (signal) => this.#serve(signal),
      ...this.#upkeep.loops(),
      ...this.#pins.loops(),
      'unhealthy backends': (signal) => this.#applyBackendHealth(signal),
      'unhealthy backends recheck': (signal) =>
        this.#backendHealth.recheck(() => this.#healthDue.call(), signal),
      'status events': (signal) => this.#sendStatus(signal),
      credentials: (signal) => this.#followCredentials(signal),
      ...this.#probing.loops({
        clock,
        log,
        onChange: () => this.#probeResultsChanged(),
        targets: () => targets.of(this.#gateway.state),
      }),
      ...announcer.loops(alarms),
      ...healthLoops({
        settings,
        announcer,
        alarms,
        gateway,
        cutOffIllness: () => cutOffIllness(this.#probing.ledger.cutOff, this.#relief),
        kernel,
        clock,
        log,
        metrics,
      }),
    };
  }

  async close(): Promise<void> {
    await this.#gateway.idle();
    await this.#store.close();
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { settings, clock, log, metrics } = this.#options;
    const gateway = this.#gateway;
    const status = () => this.#describe();
    const server = await startAgentServer(
      {
        host: settings.listen.address,
        port: settings.listen.port,
        socketFile: socketFile(settings),
        tls: this.#credentials.tls,
        events: this.#events,
        status,
        log,
        metrics,
        metricsPage: () => this.#options.metricsPage(),
        v1:
          settings.v1.secretsFile === undefined
            ? undefined
            : new V1Api({
                gateway,
                clock,
                masquerade: settings.v1.masquerade,
                servable: servableHere(settings),
                log,
                metrics,
                secrets: () => this.#credentials.v1Secrets,
              }),
        v2:
          settings.secretsFile === undefined
            ? undefined
            : new V2Api({
                name: settings.name,
                gateway,
                clock,
                servable: servableHere(settings),
                limits: {
                  totalBytes: settings.limits.bodyBytes,
                  lineBytes: settings.limits.lineBytes,
                },
                secrets: () => this.#credentials.secrets,
                status,
                sendUnhealthy: (unhealthy) => {
                  this.#backendHealth.hand(unhealthy);
                  return this.#backendHealth.act(signal);
                },
                setRelief: (isAvailable) => this.#relief.set(isAvailable),
                countConnections: (each) => this.#countConnections(each),
                pins: this.#pins,
                trace: (question) => this.#trace(question),
                pull: (name, reason) => this.#pull(name, reason),
              }),
      },
      signal,
    );
    this.#setTls = (tls) => server.setTls(tls);
    this.#options.onReady(server.url);
    await whenAborted(signal);
    await server.close();
  }

  async #countConnections(signal: AbortSignal): Promise<FrontendCount[]> {
    const counts = await this.#options.kernel.countConnections(signal);
    return countsOfAll(this.#gateway.state.frontends, counts);
  }

  #trace(question: TraceQuestion): TraceAnswer {
    const { state, unhealthy } = this.#gateway;
    return traceConnection({ state, unhealthy, settings: this.#options.kernel.layout }, question);
  }

  #setTls: (tls: NonNullable<Credentials['tls']>) => void = () => {};

  async #pull(name: OverrideName, reason: string | undefined): Promise<void> {
    const { clock, log } = this.#options;
    await this.#overrides.set(
      name,
      reason === undefined ? undefined : { since: clock.wallTime(), reason },
    );
    if (name === 'drained') await setDrained(this.#announcer, reason);
    // Removals that are already withheld are released at once, because no further update may follow.
    if (name === 'removal' && reason !== undefined) await this.#gateway.releaseRemovals();
    log.info(
      { override: name, reason },
      reason === undefined ? 'override cleared' : 'override set',
    );
    this.#statusDue.call();
  }

  #controllerCameOrLeft(): void {
    if (!this.#events.hasListeners) this.#backendHealth.controllerLeft();
    this.#healthDue.call();
  }

  async #applyBackendHealth(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#healthDue.next(signal);
      await this.#backendHealth.act(signal);
      this.#statusDue.call();
    }
  }

  async #sendStatus(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#statusDue.next(signal);
      this.#events.send(this.#describe());
    }
  }

  #probeResultsChanged(): void {
    const { ledger } = this.#probing;
    this.#backendHealth.see(ledger.unhealthy);
    this.#alarms.set(
      'cut-off',
      ledger.cutOff.length === 0
        ? undefined
        : `no backend answers this gateway over ${ledger.cutOff.map((family) => `IPv${family}`).join(' and ')}`,
    );
    this.#healthDue.call();
  }

  async #followCredentials(signal: AbortSignal): Promise<void> {
    const { clock, log, settings } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, credentialsEveryMs, signal);
      try {
        const next = await loadCredentials(credentialFiles(settings));
        // TLS comes before the secrets: a certificate that doesn't match its key throws, and nothing changes.
        if (next.tls !== undefined) this.#setTls(next.tls);
        this.#credentials = next;
      } catch (error) {
        log.warn(
          { error: CausewayError.from(error) },
          'the new credentials are invalid; keeping the current ones',
        );
      }
    }
  }

  #describe(): AgentStatus {
    const { settings, version, kernel, seed } = this.#options;
    // Sets of gateways that don't take over from each other may have different seeds.
    const isCompared = settings.addresses.groups === 'one';
    return describeAgent({
      name: settings.name,
      version,
      seed: isCompared ? seed : undefined,
      kernel,
      gateway: this.#gateway,
      overrides: this.#overrides,
      alarms: this.#alarms,
      ledger: this.#probing.ledger,
      backendHealth: this.#backendHealth,
      pins: this.#pins,
      announcer: this.#announcer,
    });
  }
}

function setDrained(announcer: Announcer, reason: string | undefined): Promise<void> {
  return reason === undefined
    ? announcer.resume('drained')
    : announcer.withdrawAll('drained', reason);
}

interface AgentParts extends AgentState {
  readonly probing: Probing;
  readonly announcer: Announcer;
  readonly credentials: Credentials;
}
