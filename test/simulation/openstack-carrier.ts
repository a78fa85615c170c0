import {
  TransportError,
  type HttpRequest,
  type HttpResponse,
  type RequestCarrier,
} from '../../packages/openstack/src/transport.ts';
import type { SimulatedProcess } from '../../packages/base/src/simulation/simulation.ts';
import type { Answer } from '../../packages/fake-openstack/src/http/call.ts';
import type { InProcessOpenStack } from '../../packages/fake-openstack/src/in-process.ts';
import { untilAborted } from '../../packages/base/src/time/until-aborted.ts';

/** From a process of a simulation to an embedded cloud: every request is an outside call of the process. */
export class SimulatedOpenStackCarrier implements RequestCarrier {
  readonly #cloud: InProcessOpenStack;
  readonly #process: SimulatedProcess;

  constructor(cloud: InProcessOpenStack, process: SimulatedProcess) {
    this.#cloud = cloud;
    this.#process = process;
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const answer = await untilAborted(
      this.#process.call(describeRequest(request), () => this.#cloud.answer(request)),
      request.signal,
    );
    if (answer !== 'dropped') return asResponse(answer);
    throw new TransportError('no answer: the connection was cut', 'unknown', { cause: undefined });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const identifier = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/** `PUT network ports/ID/tags`: without the ID, so that the same call has the same label. */
function describeRequest({ method, url }: HttpRequest): string {
  const { hostname, pathname } = new URL(url);
  const [service] = hostname.split('.');
  const [, ...parts] = pathname.split('/').filter((part) => part !== '');
  const path = parts.map((part) => (identifier.test(part) ? 'ID' : part)).join('/');
  return `${method} ${service} ${path}`.trimEnd();
}

function asResponse({ status, headers, body, text }: Answer): HttpResponse {
  const content = text?.content ?? (body === undefined ? '' : JSON.stringify(body));
  return {
    status,
    header: (name) => headers?.[name],
    body: onePiece(content),
    discard: () => Promise.resolve(),
  };
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}
