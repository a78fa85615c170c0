import { Worker } from 'node:worker_threads';
import { CausewayError } from '@causeway/base/error/causeway-error';

/** A port on which a pod answers. */
export interface EchoService {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

export type ServerRequest =
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly pod: string;
      readonly namespace: string;
      readonly services: readonly EchoService[];
    }
  | { readonly kind: 'close'; readonly id: number; readonly pod: string }
  | {
      readonly kind: 'forward';
      readonly id: number;
      readonly namespace: string;
      readonly port: number;
      /** A socket in the file system. */
      readonly to: string;
    };

export interface ServerAnswer {
  readonly id: number;
  readonly error?: string;
}

const workerFile = import.meta.url.endsWith('.ts')
  ? './namespace-servers.worker.ts'
  : './namespace-servers.worker.js';

/** Servers inside of network namespaces, run by this process. */
export class NamespaceServers {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();
  #count = 0;

  /** The worker thread stays in this namespace while it is idle, so that other namespaces can be removed. */
  constructor(idleNamespace: string) {
    this.#worker = new Worker(new URL(workerFile, import.meta.url), { workerData: idleNamespace });
    this.#worker.on('message', ({ id, error }: ServerAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve();
      else waiting?.reject(new CausewayError('unavailable', error));
    });
    this.#worker.on('error', (cause) => {
      for (const { reject } of this.#waiting.values()) {
        reject(
          new CausewayError('internal', 'the servers in the namespaces have exited', { cause }),
        );
      }
      this.#waiting.clear();
    });
  }

  /** In a pod: answers with the pod's name and the client's address. */
  open(pod: string, namespace: string, services: readonly EchoService[]): Promise<void> {
    return this.#ask((id) => ({ kind: 'open', id, pod, namespace, services }));
  }

  close(pod: string): Promise<void> {
    return this.#ask((id) => ({ kind: 'close', id, pod }));
  }

  /** Forwards a port of the loopback address there to a socket in the file system. */
  forward(namespace: string, port: number, to: string): Promise<void> {
    return this.#ask((id) => ({ kind: 'forward', id, namespace, port, to }));
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(make: (id: number) => ServerRequest): Promise<void> {
    this.#count += 1;
    const answer = Promise.withResolvers<void>();
    this.#waiting.set(this.#count, answer);
    this.#worker.postMessage(make(this.#count));
    return answer.promise;
  }
}
