import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Port } from '@causeway/base/address/port';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { HttpServer, TextAnswer } from '@causeway/base/http/http-server';
import type { HealthCheck, ServedService } from '../served-service.ts';
import { startResponder } from './http-responder.ts';
import { json } from './node-health.ts';

/** Delay before a port that could not be opened is tried again. */
const retryMs = 10_000;

/**
 * The healthCheckNodePorts of Services with externalTrafficPolicy Local. Load balancers ask there which nodes
 * have endpoints.
 */
export class HealthCheckPorts {
  readonly #options: HealthCheckPortsOptions;
  readonly #wanted = new Map<string, HealthCheck>();
  readonly #open = new Map<string, { readonly port: Port; readonly responder: HttpServer }>();
  #wake: () => void = () => {};

  constructor(options: HealthCheckPortsOptions) {
    this.#options = options;
  }

  /** Follows committed rules, so that load balancers send no traffic before the rules are written. */
  committed(served: readonly ServedService[]): void {
    for (const { service, healthCheck } of served) {
      if (healthCheck === undefined) this.#wanted.delete(service);
      else this.#wanted.set(service, healthCheck);
    }
    this.#wake();
  }

  /** Opens and closes ports until the signal fires, then closes all. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const stop = () => this.#wake();
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const isComplete = await this.#converge();
      if (signal.aborted) break;
      const retry = new AbortController();
      await (isComplete
        ? woken
        : Promise.race([woken, sleep(clock, retryMs, retry.signal).catch(() => undefined)]));
      retry.abort();
    }
    signal.removeEventListener('abort', stop);
    await Promise.all([...this.#open.keys()].map((service) => this.#close(service)));
  }

  async #converge(): Promise<boolean> {
    for (const [service, { port }] of [...this.#open]) {
      if (this.#wanted.get(service)?.port !== port) await this.#close(service);
    }
    let isComplete = true;
    for (const [service, { port }] of [...this.#wanted]) {
      if (!this.#open.has(service)) isComplete = (await this.#listen(service, port)) && isComplete;
    }
    return isComplete;
  }

  async #listen(service: string, port: Port): Promise<boolean> {
    try {
      const responder = await startResponder({ port, answer: () => this.#answer(service) });
      this.#open.set(service, { port, responder });
      return true;
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      this.#options.log.error({ error, service, port }, 'a health check cannot be answered');
      return false;
    }
  }

  async #close(service: string): Promise<void> {
    const open = this.#open.get(service);
    this.#open.delete(service);
    await open?.responder.close();
  }

  #answer(service: string): TextAnswer {
    const isHealthy = this.#options.isHealthy();
    const localEndpoints = this.#wanted.get(service)?.localEndpoints ?? 0;
    const answer = json(isHealthy && localEndpoints > 0 ? 200 : 503, {
      service: nameFromKey(service),
      localEndpoints,
      serviceProxyHealthy: isHealthy,
    });
    const weight = { 'x-load-balancing-endpoint-weight': String(localEndpoints) };
    return { ...answer, headers: { ...answer.headers, ...weight } };
  }
}

export interface HealthCheckPortsOptions {
  /** Whether this node's proxy should get connections. */
  readonly isHealthy: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}
