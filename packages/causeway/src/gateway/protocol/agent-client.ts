import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { Agent, request, type Dispatcher } from '@causeway/base/http/http-client';
import type { Address } from '@causeway/base/address/address';
import { CausewayError, isErrorCode, type ErrorCode } from '@causeway/base/error/causeway-error';
import { LineSplitter } from '@causeway/base/text/line-splitter';
import type { Clock } from '@causeway/base/time/clock';
import { untilAborted } from '@causeway/base/time/until-aborted';
import { readBounded } from '@causeway/base/http/bounded-body';
import type { Acknowledgement } from './acknowledgement.ts';
import type { AgentStatus, FrontendCount } from './agent-status.ts';
import { digestOf, signRequest } from './tokens.ts';
import type { RemovalConfirmation } from './removal-confirmation.ts';
import {
  formatPin,
  readDelta,
  readMoved,
  type PinCursor,
  type PinDelta,
  type PinSet,
} from './pins.ts';
import { parseFrontendKey, type FrontendKey } from './frontend.ts';
import { formatFrontendId } from './records.ts';
import type { OverrideName } from './override.ts';
import type { TraceAnswer, TraceQuestion } from './trace.ts';
import {
  readAcknowledgement,
  readCounters,
  readRefusal,
  readStatus,
  readTrace,
} from './answers.ts';

export interface HttpAgentClientOptions {
  /** The agent's listen address, such as `https://192.0.2.7:15213`. */
  readonly url: string;
  /** The agent's name, and the audience of tokens. */
  readonly name: string;
  readonly secret: Uint8Array;
  readonly clock: Clock;
  /** The agent's Unix socket on the gateway, instead of the network. */
  readonly socketPath?: string;
  /** The trusted authority and the client certificate, if the agent uses TLS. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly limitMs: number;
}

/** The agent rejected a request or failed. `reason` is the agent's reason. */
export class AgentRefused extends CausewayError {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string, hint: string | undefined) {
    super(codeOf(status, reason), message, hint === undefined ? {} : { hint });
    this.status = status;
    this.reason = reason;
  }
}

const compress = promisify(gzip);
const compressFrom = 1024;
/** A status lists frontends, possibly tens of thousands. */
const largestAnswer = 64 * 1024 * 1024;

/** Client of one agent's `/v2` API. */
export class HttpAgentClient {
  readonly #options: HttpAgentClientOptions;
  readonly #dispatcher: Agent;

  constructor(options: HttpAgentClientOptions) {
    this.#options = options;
    this.#dispatcher = new Agent({
      connect: {
        ...options.tls,
        ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }),
        timeout: options.limitMs,
      },
      headersTimeout: options.limitMs,
      bodyTimeout: options.limitMs,
    });
  }

  async status(signal: AbortSignal): Promise<AgentStatus> {
    return readStatus(await this.#call('GET', '/v2/status', undefined, {}, signal));
  }

  /** Sends the lines of `writeState` or `writeDelta`. */
  async push(lines: Iterable<string>, signal: AbortSignal): Promise<Acknowledgement> {
    return readAcknowledgement(await this.#sendLines('/v2/push', lines, signal));
  }

  async #sendLines(path: string, lines: Iterable<string>, signal: AbortSignal): Promise<unknown> {
    const plain = Buffer.from([...lines].join(''));
    const isLarge = plain.length >= compressFrom;
    const body = isLarge ? await compress(plain) : plain;
    const headers = {
      'content-type': 'application/jsonl',
      ...(isLarge ? { 'content-encoding': 'gzip' } : {}),
    };
    return this.#call('POST', path, body, headers, signal);
  }

  /** Confirms exactly these withheld removals, which were verified. */
  async confirmRemovals(
    confirmation: RemovalConfirmation,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    const { generation, cluster, frontends } = confirmation;
    const removals = [...frontends].map((key) => formatFrontendId(parseFrontendKey(key)));
    const body = { generation, ...(cluster === undefined ? {} : { cluster }), removals };
    return readAcknowledgement(await this.#callJson('/v2/removals', body, signal));
  }

  /** The requests about pins: before an update, from this agent, and to this agent. */
  readonly pins = {
    prepare: async (
      lines: Iterable<string>,
      signal: AbortSignal,
    ): Promise<ReadonlySet<FrontendKey>> =>
      readMoved(await this.#sendLines('/v2/pins/prepare', lines, signal)),
    collect: async (since: PinCursor | undefined, signal: AbortSignal): Promise<PinDelta> => {
      const body = since === undefined ? {} : { since };
      return readDelta(await this.#callJson('/v2/pins/collect', body, signal));
    },
    send: async ({ set, removed }: PinSet, signal: AbortSignal): Promise<void> => {
      const body = { set: set.map(formatPin), removed: removed.map(formatPin) };
      await this.#callJson('/v2/pins', body, signal);
    },
  };

  /** Sends the unhealthy backends that all gateways have agreed on. */
  async sendUnhealthy(unhealthy: Iterable<Address>, signal: AbortSignal): Promise<void> {
    await this.#callJson('/v2/unhealthy', { unhealthy: [...unhealthy] }, signal);
  }

  /** Says whether another gateway can serve in place of this one. An older agent does not know the request. */
  async sendRelief(isAvailable: boolean, signal: AbortSignal): Promise<void> {
    try {
      await this.#callJson('/v2/relief', { isAvailable }, signal);
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
    }
  }

  async pull(
    override: OverrideName,
    on: boolean,
    reason: string | undefined,
    signal: AbortSignal,
  ): Promise<AgentStatus> {
    const body = { override, on, ...(reason === undefined ? {} : { reason }) };
    return readStatus(await this.#callJson('/v2/overrides', body, signal));
  }

  async undo(reason: string, signal: AbortSignal): Promise<Acknowledgement> {
    return readAcknowledgement(await this.#callJson('/v2/undo', { reason }, signal));
  }

  /** Number of connections of each frontend. */
  async counters(signal: AbortSignal): Promise<readonly FrontendCount[]> {
    return readCounters(await this.#call('GET', '/v2/counters', undefined, {}, signal));
  }

  /** Traces a new connection on the gateway. */
  async trace(question: TraceQuestion, signal: AbortSignal): Promise<TraceAnswer> {
    return readTrace(await this.#callJson('/v2/trace', question, signal));
  }

  /**
   * The agent's current status, and a new one after every change. The open stream shows the agent that its
   * controller is present.
   */
  async *events(signal: AbortSignal): AsyncGenerator<AgentStatus> {
    const response = await this.#send('GET', '/v2/events', undefined, {}, signal, 0);
    if (response.statusCode !== 200) throw await refusal(response);
    const splitter = new LineSplitter({ bytes: largestAnswer, tooLong: tooLarge });
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      for (const line of splitter.push(chunk)) {
        if (line !== '') yield readStatus(parseJson(line));
      }
    }
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  #callJson(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const bytes = Buffer.from(JSON.stringify(body));
    return this.#call('POST', path, bytes, { 'content-type': 'application/json' }, signal);
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<unknown> {
    const response = await this.#send(method, path, body, headers, signal, this.#options.limitMs);
    if (response.statusCode !== 200) throw await refusal(response);
    return parseJson(await readAll(response));
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
    limitMs: number,
  ): Promise<Dispatcher.ResponseData> {
    const { url, name, secret, clock } = this.#options;
    const binding = { audience: name, method, path };
    const token = await signRequest(secret, binding, digestOf(body ?? ''), clock.wallTime());
    try {
      const answer = request(new URL(path, url), {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body }),
        bodyTimeout: limitMs,
        dispatcher: this.#dispatcher,
        signal,
      });
      // undici detects an abort only after the request has a connection, which may take longer than its
      // deadline.
      return await untilAborted(answer, signal);
    } catch (cause) {
      if (signal.aborted) throw CausewayError.from(cause);
      throw new CausewayError('unavailable', `the agent ${name} at ${url} does not answer`, {
        cause,
      });
    }
  }
}

async function readAll(response: Dispatcher.ResponseData): Promise<string> {
  const body = response.body as AsyncIterable<Buffer>;
  return (await readBounded(body, largestAnswer, tooLarge)).toString();
}

function tooLarge(): CausewayError {
  return new CausewayError('unavailable', `the agent's answer is over ${largestAnswer} bytes`);
}

/** Undefined if the text is not JSON. The caller reports missing fields. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function refusal(response: Dispatcher.ResponseData): Promise<AgentRefused> {
  const body = await readAll(response).then(parseJson, () => undefined);
  const { reason = 'unknown', message, hint } = readRefusal(body);
  const text = message ?? `the agent answers with ${response.statusCode}`;
  return new AgentRefused(response.statusCode, reason, text, hint);
}

function codeOf(status: number, reason: string): ErrorCode {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not-found';
  if (status === 409 || status === 423) return 'conflict';
  if (status === 503) return 'unavailable';
  if (reason === 'unsupported-revision') return 'unsupported';
  return status >= 500 ? 'internal' : 'invalid';
}
