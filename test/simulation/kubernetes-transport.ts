import { abortedBy } from '../../packages/base/src/time/clock.ts';
import type { SimulatedProcess } from '../../packages/base/src/simulation/simulation.ts';
import type {
  Transport,
  TransportRequest,
  TransportResponse,
} from '../../packages/kubernetes/src/client/transport.ts';
import type { InProcessKubernetes } from '../../packages/fake-kubernetes/src/in-process.ts';
import { parseResourcePath } from '../../packages/fake-kubernetes/src/http/request-info.ts';
import { DeliveredBody } from './delivered-body.ts';
import { untilAborted } from '../../packages/base/src/time/until-aborted.ts';

const never = new Promise<never>(() => {});

/** The part of a request that gets lost: then no answer comes. */
export type Loss = 'request' | 'answer' | undefined;

/**
 * From a process of a simulation to an embedded API: every request is an outside call of the process, and
 * watch events arrive when the seed decides.
 */
export class SimulatedKubernetesTransport implements Transport {
  readonly #kubernetes: InProcessKubernetes;
  readonly #process: SimulatedProcess;
  readonly #lossOf: (label: string) => Loss;

  constructor(
    kubernetes: InProcessKubernetes,
    process: SimulatedProcess,
    lossOf: (label: string) => Loss = () => undefined,
  ) {
    this.#kubernetes = kubernetes;
    this.#process = process;
    this.#lossOf = lossOf;
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    const label = describeRequest(request);
    if (request.isLong) return this.#watch(label, request, signal);
    const loss = this.#lossOf(label);
    const answering =
      loss === 'request'
        ? never
        : this.#process.call(label, () => this.#kubernetes.answer(request));
    const answer = await untilAborted(
      loss === undefined ? answering : answering.then(() => never),
      signal,
    );
    return { ...answer, body: onePiece(answer.body) };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #watch(
    label: string,
    request: TransportRequest,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    const body = new DeliveredBody((run) => this.#process.deliver(`${label} events`, run));
    const opening = this.#process.call(label, () => {
      if (signal.aborted) throw abortedBy(signal);
      const watch = this.#kubernetes.watch(request, body);
      if ('status' in watch) return watch;
      const close = () => watch.close();
      this.#process.ended.addEventListener('abort', close, { once: true });
      body.onStop(close);
      signal.addEventListener('abort', () => body.fail(abortedBy(signal)), { once: true });
      return { status: 200, headers: {}, body };
    });
    const answer = await untilAborted(opening, signal);
    if (typeof answer.body !== 'string') return { ...answer, body: answer.body };
    return { ...answer, body: onePiece(answer.body) };
  }
}

/** `PATCH services/status default/web`: verb, resource and object. */
export function describeRequest({ method, path, isLong }: TransportRequest): string {
  const resource = parseResourcePath(new URL(path, 'https://localhost').pathname);
  if (resource === undefined) return `${method} ${path}`;
  const { plural, subresource, namespace, name } = resource;
  const what = subresource === undefined ? plural : `${plural}/${subresource}`;
  const which = [namespace, name].filter((part) => part !== undefined).join('/');
  return `${isLong ? 'WATCH' : method} ${what} ${which}`.trimEnd();
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}
