import { Worker } from 'node:worker_threads';
import { CausewayError } from '../domain/error.ts';

/** A port that a pod answers on. */
export interface EchoService {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

export type EchoRequest =
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly pod: string;
      readonly namespace: string;
      readonly services: readonly EchoService[];
    }
  | { readonly kind: 'close'; readonly id: number; readonly pod: string };

export interface EchoAnswer {
  readonly id: number;
  readonly error?: string;
}

/** Servers in the pods' namespaces that answer with the pod's name and the client's address. */
export class EchoServers {
  readonly #worker = new Worker(
    new URL(
      import.meta.url.endsWith('.ts') ? './echo.worker.ts' : './echo.worker.js',
      import.meta.url,
    ),
  );
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();
  #count = 0;

  constructor() {
    this.#worker.on('message', ({ id, error }: EchoAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve();
      else waiting?.reject(new CausewayError('unavailable', error));
    });
    this.#worker.on('error', (cause) => {
      for (const { reject } of this.#waiting.values()) {
        reject(new CausewayError('internal', 'the pods’ servers are gone', { cause }));
      }
      this.#waiting.clear();
    });
  }

  open(pod: string, namespace: string, services: readonly EchoService[]): Promise<void> {
    return this.#ask((id) => ({ kind: 'open', id, pod, namespace, services }));
  }

  close(pod: string): Promise<void> {
    return this.#ask((id) => ({ kind: 'close', id, pod }));
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(make: (id: number) => EchoRequest): Promise<void> {
    this.#count += 1;
    const answer = Promise.withResolvers<void>();
    this.#waiting.set(this.#count, answer);
    this.#worker.postMessage(make(this.#count));
    return answer.promise;
  }
}
