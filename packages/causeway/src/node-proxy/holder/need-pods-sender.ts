import { needPodsReason } from '../../idling/need-pods.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { events } from '@causeway/kubernetes/objects/resources';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import { done, retryAfter, runController, type Outcome } from '@causeway/base/work/controller';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import { WorkQueue } from '@causeway/base/work/work-queue';
import { podRequests } from './metric-definitions.ts';

export interface NeedPodsSenderOptions {
  readonly client: KubeClient;
  /** Name of this node. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
}

interface Request {
  readonly port: string;
  sent: number;
}

/** A lost Event must not leave a Service idle: it is sent again while a client waits. */
const repeats: BackoffPolicy = { baseMs: 1_000, maxMs: 30_000, jitter: 0.2 };
const failures: BackoffPolicy = { baseMs: 200, maxMs: 10_000, jitter: 0.5 };
const workers = 8;
const deadlineMs = 15_000;
const component = 'causeway-proxy';

/**
 * Asks for pods as OpenShift's proxy does, with an Event about the Service. Each Event is a new object, so
 * that it has the API server's time: a node's clock may be wrong.
 */
export class NeedPodsSender {
  readonly #options: NeedPodsSenderOptions;
  readonly #requests = new Map<string, Request>();
  readonly #queue: WorkQueue<string>;
  readonly #counter;
  #serial = 0;

  constructor(options: NeedPodsSenderOptions) {
    this.#options = options;
    const { clock, metrics, random = systemRandom } = options;
    this.#queue = new WorkQueue<string>({ clock, backoff: failures, random });
    this.#counter = metrics.counter(podRequests);
  }

  /**
   * A client waits. The first client of an idle Service triggers an Event at once, others follow the backoff.
   */
  request(service: string, port: string, isFirst: boolean): void {
    if (!isFirst && this.#requests.has(service)) return;
    this.#requests.set(service, { port, sent: 0 });
    this.#queue.add(service);
  }

  /**
   * Sends until the signal fires. A request is repeated while `isAwaited` finds clients that wait for the
   * Service.
   */
  async run(isAwaited: (service: string) => boolean, signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#options;
    await runController(
      {
        name: 'need-pods',
        queue: this.#queue,
        reconcile: (service, context) => this.#send(service, isAwaited, context.signal),
        workers,
        deadlineMs,
        clock,
        log,
        metrics,
      },
      signal,
    );
  }

  async #send(
    service: string,
    isAwaited: (service: string) => boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const request = this.#requests.get(service);
    // Each request is sent at least once, also if there was no room to let the client wait.
    const isWanted = request?.sent === 0 || isAwaited(service);
    if (request === undefined || !isWanted) {
      this.#requests.delete(service);
      return done;
    }
    await this.#create(service, request.port, signal);
    request.sent += 1;
    this.#counter.add({});
    const { random = systemRandom } = this.#options;
    return retryAfter(backoffDelay(repeats, request.sent, random), 'a client still waits');
  }

  async #create(service: string, port: string, signal: AbortSignal): Promise<void> {
    const { client, node, clock } = this.#options;
    const { namespace = '', name } = nameFromKey(service);
    const now = clock.wallTime();
    const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
    this.#serial += 1;
    const unique = `${now.toString(16)}${this.#serial.toString(16).padStart(4, '0')}`;
    const event = {
      metadata: { namespace, name: `${name.slice(0, 200)}.${unique}` },
      involvedObject: { apiVersion: 'v1', kind: 'Service', namespace, name },
      type: 'Normal',
      reason: needPodsReason,
      message: `The service-port ${name}:${port} needs pods.`,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component, host: node },
      reportingComponent: component,
      reportingInstance: node,
    };
    await client.create(events, event, { signal });
  }
}
