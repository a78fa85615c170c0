import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { sleep, type Clock, type Timer } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom } from '@causeway/base/simulation/random';
import { supervise } from '@causeway/base/work/supervisor';
import type { ServedService } from '../served-service.ts';
import { AcceptingHolder } from './accepting-holder.ts';
import { connectionRoom, descriptorLimit } from './descriptor-limit.ts';
import { Holder } from './holder.ts';
import type { IdlingStage } from './idling-stage.ts';
import { NeedPodsSender } from './need-pods-sender.ts';
import { KernelPacketTap, type PacketTapOptions } from './packet-tap.ts';
import type { HolderSettings } from './settings.ts';

export interface IdleServicesOptions {
  readonly settings: HolderSettings;
  readonly client: KubeClient;
  /** The name of this node. */
  readonly node: string;
  /** If false, Services with `causeway.dev/hold: accept` are parked. */
  readonly canAccept?: boolean;
  /** Whether pods are identified by the interface of their packets. */
  readonly matchesInterface?: boolean;
  /** A path such as /run/netns/blue; the process's own namespace by default. */
  readonly networkNamespace?: string;
  /** Directory of the kernel's settings, /proc/sys by default. */
  readonly settingsDirectory?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const tapRetry: BackoffPolicy = { baseMs: 1_000, maxMs: 60_000, jitter: 0.2 };

/**
 * Holds connections to idle Services. The pipeline uses `stage` to divert connections, and must pass each
 * transaction to `onCommit`.
 */
export class IdleServices {
  readonly stage: IdlingStage;
  readonly #options: IdleServicesOptions;
  readonly #holder: Holder;
  readonly #accepting: AcceptingHolder;
  readonly #sender: NeedPodsSender;

  constructor(options: IdleServicesOptions) {
    const { settings, clock, log, metrics, canAccept = true } = options;
    this.#options = options;
    const sender = new NeedPodsSender(options);
    const needPods = (service: string, port: string, isFirst: boolean) =>
      sender.request(service, port, isFirst);
    const holdMs = settings.holdSeconds * 1000;
    const accepting = new AcceptingHolder({
      canAccept,
      needPods,
      clock,
      log,
      metrics,
      perService: settings.connectionsPerService,
      inAll: roomFor(settings.connections, log),
      holdMs,
      drainMs: settings.drainSeconds * 1000,
    });
    this.#sender = sender;
    this.#accepting = accepting;
    this.#holder = new Holder({
      bounds: {
        perService: { packets: settings.packetsPerService, bytes: settings.bytesPerService },
        inAll: { packets: settings.packets, bytes: settings.bytes },
        perFlow: settings.datagramsPerFlow,
        holdMs,
      },
      needPods,
      clock,
      metrics,
    });
    this.stage = {
      graceMs: settings.graceSeconds * 1000,
      logGroup: settings.logGroup,
      listen: (service) => accepting.listen(service),
    };
  }

  onCommit(served: readonly ServedService[]): void {
    this.#holder.onCommit(served);
    this.#accepting.onCommit(served);
  }

  /** Runs until the signal fires. Waiting packets are then dropped; clients send them again. */
  async run(signal: AbortSignal): Promise<void> {
    await supervise(signal, {
      holder: (inner) => this.#holder.run(inner),
      'accepting holder': (inner) => this.#accepting.run(inner),
      'need pods': (inner) => this.#sender.run((service) => this.#waiting(service) > 0, inner),
      'packet tap': (inner) => this.#keepTapOpen(inner),
    });
  }

  #waiting(service: string): number {
    return this.#holder.waiting(service) + this.#accepting.waiting(service);
  }

  /** A machine that can't hold packets still serves the Services that are awake. */
  async #keepTapOpen(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    for (let failures = 1; !signal.aborted; failures += 1) {
      const delayMs = backoffDelay(tapRetry, failures, systemRandom);
      try {
        await this.#useTap(delayMs, signal);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        log.error({ error, hint: error.hint }, 'connections to idle Services cannot be held');
        await sleep(clock, delayMs, signal);
      }
    }
  }

  /** Runs until the tap fails. Without a device for replays, runs until the next attempt to open it. */
  async #useTap(retryMs: number, signal: AbortSignal): Promise<void> {
    const tap = await KernelPacketTap.open(this.#tapOptions(), this.#holder);
    this.#holder.attach(tap);
    const over = Promise.withResolvers<unknown>();
    void tap.failed.then(over.resolve);
    const end = () => over.resolve(undefined);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    const nextTry =
      tap.whyNoDevice === undefined ? undefined : this.#warnAndRetry(tap.whyNoDevice, retryMs, end);
    const failure = await over.promise;
    nextTry?.cancel();
    signal.removeEventListener('abort', end);
    this.#holder.attach(undefined);
    await tap.close();
    if (failure !== undefined) throw CausewayError.from(failure);
  }

  #warnAndRetry(whyNoDevice: string, retryMs: number, then: () => void): Timer {
    const { clock, log, settings } = this.#options;
    const { device } = settings;
    const hint = `Load the kernel module tun, let this process open /dev/net/tun, and give no other device the name ${device}.`;
    log.warn(
      { device, error: whyNoDevice, hint },
      "connections wake idle Services, but continue only with the client's next packet",
    );
    return clock.timer(retryMs, then);
  }

  #tapOptions(): PacketTapOptions {
    const { settings, networkNamespace, settingsDirectory, matchesInterface } = this.#options;
    const { logGroup, device, insideDevice } = settings;
    return {
      logGroup,
      device,
      settingsDirectory,
      ...(matchesInterface === true ? { insideDevice } : {}),
      ...(networkNamespace === undefined ? {} : { networkNamespace }),
    };
  }
}

/** Each connection takes two descriptors; every accepted connection must be forwarded, too. */
function roomFor(connections: number, log: Log): number {
  const descriptors = descriptorLimit();
  const room = connectionRoom(connections, descriptors);
  if (room < connections) {
    const hint = 'Raise the limit of open files (LimitNOFILE), or lower idling.connections.';
    log.warn({ connections, descriptors, room, hint }, 'fewer connections can be accepted');
  }
  return room;
}
