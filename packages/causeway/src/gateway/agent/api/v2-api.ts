import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, parseProtocol } from '@causeway/base/address/port';
import type { Clock } from '@causeway/base/time/clock';
import { setUnservableAside, type ServableAddresses } from '../apply/servable.ts';
import type { Gateway } from '../gateway.ts';
import { frontendKey } from '../../protocol/frontend.ts';
import { overrideNames, type OverrideName } from '../../protocol/override.ts';
import type { TraceAnswer, TraceQuestion } from '../../protocol/trace.ts';
import { collectBody, formatDelta, parsePin, pinsBody } from '../../protocol/pins.ts';
import type { ConnectionPins } from '../pins/connection-pins.ts';
import { clusterText, UpdateReader, type Update } from '../../protocol/update.ts';
import { formatFrontendId, parseFrontendId } from '../../protocol/records.ts';
import { readLines, readSmallBody, UnsupportedMedia, type BodyLimits } from './body.ts';
import type { Reply } from './reply.ts';
import type { AgentStatus, FrontendCount } from '../../protocol/agent-status.ts';
import {
  checkBinding,
  digestOf,
  ReplayGuard,
  verifyToken,
  type RequestClaims,
} from '../../protocol/tokens.ts';
import { mediaType } from './v1-api.ts';

export interface V2ApiOptions {
  /** The agent's name; the audience of tokens. */
  readonly name: string;
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly limits: BodyLimits;
  readonly servable: ServableAddresses;
  secrets(): readonly Uint8Array[];
  status(): AgentStatus;
  /** Receives the unhealthy backends from the controller. */
  sendUnhealthy(unhealthy: ReadonlySet<Address>): Promise<void>;
  /** Receives whether another gateway can serve in place of this one. */
  setRelief(isAvailable: boolean): void;
  countConnections(signal: AbortSignal): Promise<readonly FrontendCount[]>;
  readonly pins: Pick<ConnectionPins, 'prepare' | 'since' | 'take'>;
  trace(question: TraceQuestion): TraceAnswer;
  /** Sets an override, or clears it if there is no reason. */
  pull(name: OverrideName, reason: string | undefined): Promise<void>;
}

const largestSmallBody = 4 * 1024 * 1024;
const reasonText = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x20-\x7e]+$/);
const undoBody = z.strictObject({ reason: reasonText });
const overrideBody = z.strictObject({
  override: z.enum(overrideNames),
  on: z.boolean(),
  reason: reasonText.optional(),
});
const traceBody = z.strictObject({
  client: z.string(),
  clientPort: z.number(),
  address: z.string(),
  protocol: z.string(),
  port: z.number(),
  service: z.string().optional(),
});
const removalsBody = z.strictObject({
  generation: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  cluster: clusterText.optional(),
  removals: z.array(z.unknown()),
});
const reliefBody = z.strictObject({ isAvailable: z.boolean() });
const unhealthyBody = z.strictObject({ unhealthy: z.array(z.string()) });

/** The API for the controller and for operators' overrides. Every request has its own token. */
export class V2Api {
  readonly #options: V2ApiOptions;
  readonly #replays: ReplayGuard;

  constructor(options: V2ApiOptions) {
    this.#options = options;
    this.#replays = new ReplayGuard(options.clock.wallTime());
  }

  /** Checks the token before the body is read. */
  async authenticate(request: IncomingMessage): Promise<RequestClaims> {
    const { name, clock } = this.#options;
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== 'Bearer' || token === undefined) {
      throw new CausewayError('unauthorized', 'the request has no token', {
        hint: 'Send the header Authorization: Bearer TOKEN',
      });
    }
    const claims = await verifyToken(token, this.#options.secrets(), clock.wallTime());
    const bound = checkBinding(claims, {
      audience: name,
      method: request.method ?? '',
      path: request.url ?? '',
    });
    this.#replays.use(bound, clock.wallTime());
    return bound;
  }

  /** Undefined for an unknown request. */
  async handle(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<Reply | undefined> {
    switch (`${request.method} ${request.url}`) {
      case 'GET /v2/status':
        return { status: 200, body: this.#options.status() };
      case 'GET /v2/counters':
        return { status: 200, body: { frontends: await this.#options.countConnections(signal) } };
      case 'POST /v2/push':
        return this.#push(request, claims, signal);
      case 'POST /v2/pins':
        return this.#takePins(request, claims, signal);
      case 'POST /v2/pins/collect':
        return this.#collectPins(request, claims);
      case 'POST /v2/pins/prepare':
        return this.#preparePins(request, claims, signal);
      case 'POST /v2/removals':
        return this.#confirmRemovals(request, claims, signal);
      case 'POST /v2/unhealthy':
        return this.#unhealthy(request, claims);
      case 'POST /v2/relief':
        return this.#relief(request, claims);
      case 'POST /v2/overrides':
        return this.#override(request, claims);
      case 'POST /v2/undo':
        return this.#undo(request, claims, signal);
      case 'POST /v2/trace':
        return this.#trace(request, claims);
      default:
        return undefined;
    }
  }

  async #push(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { digest, update } = await this.#readUpdate(request, claims, signal);
    const body = await this.#options.gateway.push(digest, () => update, signal);
    return { status: 200, body };
  }

  /** Pins the connections that the update would move. The update itself follows in another request. */
  async #preparePins(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { gateway, pins } = this.#options;
    const { digest, update } = await this.#readUpdate(request, claims, signal);
    const moved = await pins.prepare(gateway.preview(digest, update), signal);
    return { status: 200, body: { moved: moved.map(formatFrontendId) } };
  }

  async #collectPins(request: IncomingMessage, claims: RequestClaims): Promise<Reply> {
    const { since } = collectBody.parse(await readJson(request, claims));
    return { status: 200, body: formatDelta(await this.#options.pins.since(since)) };
  }

  async #takePins(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { set, removed } = pinsBody.parse(await readJson(request, claims));
    await this.#options.pins.take(set.map(parsePin), removed.map(parsePin), signal);
    return { status: 200, body: {} };
  }

  async #readUpdate(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<{ readonly digest: string; readonly update: Update }> {
    if (mediaType(request) !== 'application/jsonl') {
      throw new UnsupportedMedia('the content type of an update is application/jsonl');
    }
    const reader = new UpdateReader();
    const digest = await readLines(
      request,
      request.headers['content-encoding'] ?? 'identity',
      this.#options.limits,
      (line) => reader.line(line),
      signal,
    );
    checkBody(digest, claims);
    const update = setUnservableAside(reader.result(), this.#options.servable);
    return { digest: contentDigest(update.header.kind, digest), update };
  }

  async #confirmRemovals(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { generation, cluster, removals } = removalsBody.parse(await readJson(request, claims));
    const frontends = new Set(removals.map((id) => frontendKey(parseFrontendId(id))));
    const { gateway } = this.#options;
    const body = await gateway.confirmRemovals({ generation, cluster, frontends }, signal);
    return { status: 200, body };
  }

  async #unhealthy(request: IncomingMessage, claims: RequestClaims): Promise<Reply> {
    const { unhealthy } = unhealthyBody.parse(await readJson(request, claims));
    await this.#options.sendUnhealthy(new Set(unhealthy.map(parseAddress)));
    return { status: 200, body: {} };
  }

  async #relief(request: IncomingMessage, claims: RequestClaims): Promise<Reply> {
    const { isAvailable } = reliefBody.parse(await readJson(request, claims));
    this.#options.setRelief(isAvailable);
    return { status: 200, body: {} };
  }

  async #override(request: IncomingMessage, claims: RequestClaims): Promise<Reply> {
    const { override, on, reason } = overrideBody.parse(await readJson(request, claims));
    await this.#options.pull(override, on ? (reason ?? 'no reason given') : undefined);
    return { status: 200, body: this.#options.status() };
  }

  async #trace(request: IncomingMessage, claims: RequestClaims): Promise<Reply> {
    const question = readQuestion(await readJson(request, claims));
    return { status: 200, body: this.#options.trace(question) };
  }

  async #undo(
    request: IncomingMessage,
    claims: RequestClaims,
    signal: AbortSignal,
  ): Promise<Reply> {
    const { reason } = undoBody.parse(await readJson(request, claims));
    return { status: 200, body: await this.#options.gateway.undo(reason, signal) };
  }
}

function readQuestion(body: unknown): TraceQuestion {
  const { client, clientPort, address, protocol, port, service } = traceBody.parse(body);
  return {
    client: parseAddress(client),
    clientPort: parsePort(clientPort),
    address: parseAddress(address),
    protocol: parseProtocol(protocol),
    port: parsePort(port),
    service,
  };
}

function contentDigest(kind: string, digest: string): string {
  return `v2 ${kind} ${digest}`;
}

async function readJson(request: IncomingMessage, claims: RequestClaims): Promise<unknown> {
  const body = await readSmallBody(request, largestSmallBody);
  checkBody(digestOf(body), claims);
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw new CausewayError('invalid', "the request's body is not JSON");
  }
}

function checkBody(digest: string, claims: RequestClaims): void {
  if (digest !== claims.body) {
    throw new CausewayError('unauthorized', 'the token was made for another body');
  }
}
