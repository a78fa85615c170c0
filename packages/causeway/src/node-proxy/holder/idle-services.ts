import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { sleep, type Clock, type Timer } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom } from '@causeway/base/simulation/random';
import { supervise } from '@causeway/base/work/supervisor';
import type { DivertibleProxy, Holding, ServiceProxy } from '../served-service.ts';
import { AcceptingHolder } from './accepting-holder.ts';
import { connectionRoom, descriptorLimit } from './descriptor-limit.ts';
import { Holder } from './holder.ts';
import { IdleSwitch, type HoldingWay } from './idle-switch.ts';
import { NeedPodsSender } from './need-pods-sender.ts';
import { KernelPacketTap, type PacketTapOptions } from './packet-tap.ts';
import type { HolderSettings } from './settings.ts';
import { whenParked } from './when-parked.ts';

export interface IdleServicesOptions {
  readonly settings: HolderSettings;
  readonly inner: DivertibleProxy;
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

/** A transaction takes milliseconds; if none succeeds, the shutdown is not delayed for long. */
const parkPatienceMs = 5_000;

/** The node's parts for idle Services. Put this before the base proxy, and run it. */
export class IdleServices {
  /** Send Services and slices to this proxy instead of the base proxy. */
  readonly proxy: ServiceProxy;
  readonly #options: IdleServicesOptions;
  readonly #holder: Holder;
  readonly #accepting: AcceptingHolder;
  readonly #sender: NeedPodsSender;
  readonly #switch: IdleSwitch;

  constructor(options: IdleServicesOptions) {
    const { settings, inner, clock } = options;
    this.#options = options;
    this.#sender = new NeedPodsSender({
      ...options,
      isAwaited: (service) => this.#holder.waiting(service) + this.#accepting.waiting(service) > 0,
    });
    const needPods = (service: string, port: string, isFirst: boolean) =>
      this.#sender.request(service, port, isFirst);
    this.#holder = new Holder({
      bounds: {
        perService: { packets: settings.packetsPerService, bytes: settings.bytesPerService },
        inAll: { packets: settings.packets, bytes: settings.bytes },
        perFlow: settings.datagramsPerFlow,
        holdMs: settings.holdSeconds * 1000,
      },
      needPods,
      clock,
      metrics: options.metrics,
    });
    const idleSwitch: IdleSwitch = new IdleSwitch({
      inner,
      holdingFor: (service, way) => this.#holdingFor(service, way),
      graceMs: settings.graceSeconds * 1000,
      clock,
    });
    this.proxy = idleSwitch;
    this.#switch = idleSwitch;
    this.#accepting = new AcceptingHolder({
      needPods,
      clock,
      log: options.log,
      metrics: options.metrics,
      perService: settings.connectionsPerService,
      inAll: roomFor(settings.connections, options.log),
      holdMs: settings.holdSeconds * 1000,
      drainMs: settings.drainSeconds * 1000,
      onListening: (service) => idleSwitch.divertAnew(service),
    });
    inner.onCommit((served) => {
      this.#holder.onCommit(served);
      this.#accepting.onCommit(served);
    });
  }

  /** Until its listeners are open, the first packets of an accepting Service are parked. */
  #holdingFor(service: Service, way: HoldingWay): Holding {
    const { settings, canAccept = true, log } = this.#options;
    const { logGroup } = settings;
    if (way === 'accept' && !canAccept) {
      const hint = 'It needs the kernel module nft_socket.';
      log.warn(
        { service: keyOf(service), hint },
        'this kernel does not support accepting connections for Services; they are parked',
      );
      return { kind: 'park', logGroup };
    }
    const listeners = way === 'accept' ? this.#accepting.listenersFor(service) : undefined;
    return listeners === undefined
      ? { kind: 'park', logGroup }
      : { kind: 'accept', listeners, logGroup };
  }

  /**
   * Before shutdown: parks new connections, so that they are not refused until the next process accepts them.
   */
  park(): Promise<void> {
    const { inner, clock } = this.#options;
    return whenParked(inner, this.#switch.parkAccepted(), clock, parkPatienceMs);
  }

  /** Runs until the signal fires. Waiting packets are then dropped; clients send them again. */
  async run(signal: AbortSignal): Promise<void> {
    await supervise(signal, {
      holder: (inner) => this.#holder.run(inner),
      'accepting holder': (inner) => this.#accepting.run(inner),
      'need pods': (inner) => this.#sender.run(inner),
      'packet tap': (inner) => this.#keepTapOpen(inner),
    });
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
