import { CausewayError } from '../../domain/error.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { supervise } from '../../runtime/supervisor.ts';
import type { DivertibleProxy, ServiceProxy } from '../service-proxy.ts';
import { Holder } from './holder.ts';
import { IdleSwitch } from './idle-switch.ts';
import { NeedPodsSender } from './need-pods-sender.ts';
import { KernelPacketTap } from './packet-tap.ts';
import type { HolderSettings } from './settings.ts';

export interface IdleServicesOptions {
  readonly settings: HolderSettings;
  readonly inner: DivertibleProxy;
  readonly client: KubeClient;
  /** The name of this node. */
  readonly node: string;
  /** A path such as /run/netns/blue; the process's own namespace when left out. */
  readonly networkNamespace?: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Everything that a node does for Services that sleep: put it before the base proxy, and run it. */
export class IdleServices {
  /** What is told to this instead of the base proxy. */
  readonly proxy: ServiceProxy;
  readonly holder: Holder;
  readonly #sender: NeedPodsSender;
  readonly #tap: KernelPacketTap;

  private constructor(
    proxy: ServiceProxy,
    holder: Holder,
    sender: NeedPodsSender,
    tap: KernelPacketTap,
  ) {
    this.proxy = proxy;
    this.holder = holder;
    this.#sender = sender;
    this.#tap = tap;
  }

  static async open(options: IdleServicesOptions): Promise<IdleServices> {
    const { settings, inner, clock, networkNamespace } = options;
    const sender: NeedPodsSender = new NeedPodsSender({
      ...options,
      isAwaited: (service) => holder.waiting(service) > 0,
    });
    const holder = new Holder({
      bounds: {
        perService: { packets: settings.packetsPerService, bytes: settings.bytesPerService },
        inAll: { packets: settings.packets, bytes: settings.bytes },
        perFlow: settings.datagramsPerFlow,
        holdMs: settings.holdSeconds * 1000,
      },
      needPods: (service, port, isFirst) => sender.request(service, port, isFirst),
      clock,
      metrics: options.metrics,
    });
    const { logGroup, device } = settings;
    const namespace = networkNamespace === undefined ? {} : { networkNamespace };
    const tap = await KernelPacketTap.open({ logGroup, device, ...namespace }, holder);
    holder.attach(tap);
    inner.onCommit((served) => holder.onCommit(served));
    const proxy = new IdleSwitch({
      inner,
      diversionFor: () => ({ kind: 'park', logGroup }),
      graceMs: settings.graceSeconds * 1000,
      clock,
    });
    return new IdleServices(proxy, holder, sender, tap);
  }

  /** Until the signal fires. What waits then is dropped; clients send it again. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await supervise(signal, {
        holder: (inner) => this.holder.run(inner),
        'need pods': (inner) => this.#sender.run(inner),
        'packet tap': (inner) => this.#watchTap(inner),
      });
    } finally {
      await this.#tap.close();
    }
  }

  async #watchTap(signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const failure = await Promise.race([this.#tap.failed, stopped]);
    if (failure !== undefined) throw CausewayError.from(failure);
  }
}
