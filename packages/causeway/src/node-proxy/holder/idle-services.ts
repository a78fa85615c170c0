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
import type { DivertibleProxy, Holding, ServiceProxy } from '../service-proxy.ts';
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
  /** Where not, Services that ask to be accepted for are parked. */
  readonly canAccept?: boolean;
  /** Pods are told from others by the interface that their packets come through. */
  readonly matchesInterface?: boolean;
  /** A path such as /run/netns/blue; the process's own namespace when left out. */
  readonly networkNamespace?: string;
  /** Where the kernel's settings are, if not in /proc/sys. */
  readonly settingsDirectory?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const tapRetry: BackoffPolicy = { baseMs: 1_000, maxMs: 60_000, jitter: 0.2 };

/** A transaction takes milliseconds; if none succeeds, ending is not put off for long. */
const parkPatienceMs = 5_000;

/** Everything that a node does for Services that sleep: put it before the base proxy, and run it. */
export class IdleServices {
  /** What is told to this instead of the base proxy. */
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

  /** Until its listeners are open, the first packets of a Service that accepts are parked. */
  #holdingFor(service: Service, way: HoldingWay): Holding {
    const { settings, canAccept = true, log } = this.#options;
    const { logGroup } = settings;
    if (way === 'accept' && !canAccept) {
      const hint = 'It needs the kernel module nft_socket.';
      log.warn({ service: keyOf(service), hint }, 'this kernel cannot accept for Services: parked');
      return { kind: 'park', logGroup };
    }
    const listeners = way === 'accept' ? this.#accepting.listenersFor(service) : undefined;
    return listeners === undefined
      ? { kind: 'park', logGroup }
      : { kind: 'accept', listeners, logGroup };
  }

  /** Before it ends: new connections are parked, so that nobody is refused until the next one accepts them. */
  park(): Promise<void> {
    const { inner, clock } = this.#options;
    return whenParked(inner, this.#switch.parkAccepted(), clock, parkPatienceMs);
  }

  /** Until the signal fires. What waits then is dropped; clients send it again. */
  async run(signal: AbortSignal): Promise<void> {
    await supervise(signal, {
      holder: (inner) => this.#holder.run(inner),
      'accepting holder': (inner) => this.#accepting.run(inner),
      'need pods': (inner) => this.#sender.run(inner),
      'packet tap': (inner) => this.#keepTapOpen(inner),
    });
  }

  /** A machine that cannot hold packets still serves the Services that are awake. */
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

  /** As long as it goes well; where nothing can be put back, until it is time to try again. */
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
      'connections wake idle Services, but go on with the next packet of their clients',
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

/** Each connection takes two descriptors: who is accepted must be served, too. */
function roomFor(connections: number, log: Log): number {
  const descriptors = descriptorLimit();
  const room = connectionRoom(connections, descriptors);
  if (room < connections) {
    const hint = 'Raise the limit of open files (LimitNOFILE), or lower idling.connections.';
    log.warn({ connections, descriptors, room, hint }, 'fewer connections can be accepted');
  }
  return room;
}
