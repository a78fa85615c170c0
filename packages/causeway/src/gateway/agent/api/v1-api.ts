import type { IncomingMessage } from 'node:http';
import type { Clock } from '@causeway/base/time/clock';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { FrontendErrors } from '../../protocol/acknowledgement.ts';
import { setUnservableAside, type ServableAddresses } from '../apply/servable.ts';
import type { Gateway } from '../gateway.ts';
import type { Masquerade } from '../../protocol/frontend.ts';
import type { FrontendIdRecord } from '../../protocol/records.ts';
import { readV1Config } from '../../protocol/v1.ts';
import { expiryOfDigest, v1Digest } from '../../protocol/v1-digest.ts';
import { gatewayMetrics } from '../metric-definitions.ts';
import { BodyTooLarge, readSmallBody } from './body.ts';
import { errorReply, refusalOf, type Refusal, type Reply } from './reply.ts';
import {
  clockSkewSeconds,
  digestOf,
  longestLifetimeSeconds,
  verifyToken,
} from '../../protocol/tokens.ts';

/** The limit of the original agent. */
const largestToken = 1_048_576;
/** The number of records in one log line. */
const longestList = 20;

export interface V1ApiOptions {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly masquerade: Masquerade;
  readonly servable: ServableAddresses;
  readonly log: Log;
  readonly metrics: Metrics;
  secrets(): readonly Uint8Array[];
}

/**
 * `POST /v1/apply` as ch-k8s-lbaas's controller calls it: the body is a token that contains the whole
 * configuration. Its tokens have no sequence number, so a late one is detected by its expiry. Of two tokens
 * from the same second either may be newer, and both are accepted.
 */
export class V1Api {
  readonly #options: V1ApiOptions;
  readonly #setAside;
  #newestExpiry: number;
  /** The messages about records of the last request that are set aside. */
  #reported = '';

  constructor(options: V1ApiOptions) {
    this.#options = options;
    this.#setAside = options.metrics.gauge(gatewayMetrics.setAside);
    this.#newestExpiry = expiryOfDigest(options.gateway.state.digest);
  }

  async apply(
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<{ reply: Reply; refusal: Refusal | undefined }> {
    if (request.method !== 'POST') return plain(405, 'method-not-allowed');
    if (mediaType(request) !== 'application/jwt') return plain(415, 'unsupported-media');
    try {
      const token = (await readSmallBody(request, largestToken)).toString().trim();
      await this.#applyToken(token, signal);
      return { reply: { status: 200, body: {} }, refusal: undefined };
    } catch (error) {
      const { status, reason } = refusalOf(error);
      // The original agent answers 400 for an invalid request and 500 for its own failure.
      const v1Status =
        error instanceof BodyTooLarge ? 413 : status === 401 || status === 400 ? 400 : 500;
      return {
        reply: { ...errorReply(error), status: v1Status },
        refusal: { status: v1Status, reason, error },
      };
    }
  }

  async #applyToken(token: string, signal: AbortSignal): Promise<void> {
    const { gateway, clock, masquerade, servable } = this.#options;
    const claims = await verifyToken(token, this.#options.secrets(), clock.wallTime());
    const digest = v1Digest(claims.exp, digestOf(token));
    const { errors } = await gateway.push(
      digest,
      (state) => {
        // Checked here because earlier requests in the queue have been applied now.
        this.#refuseLate(claims.exp, state.digest);
        const config = claims['load-balancer-config'] ?? {};
        return setUnservableAside(readV1Config(config, state.generation + 1, masquerade), servable);
      },
      signal,
    );
    this.#newestExpiry = Math.max(this.#newestExpiry, claims.exp);
    this.#report(errors);
  }

  /** The controller sends the same records each time, so they are logged when they change. */
  #report(errors: readonly FrontendErrors[]): void {
    const messages = errors.flatMap(({ frontend, errors: each }) =>
      each.map(({ message }) => (frontend === null ? message : `${nameOf(frontend)}: ${message}`)),
    );
    this.#setAside.set({}, messages.length);
    const text = messages.join('; ');
    if (text === this.#reported) return;
    this.#reported = text;
    const records = messages.slice(0, longestList);
    const { log } = this.#options;
    if (messages.length === 0) log.info({}, 'all records of the /v1 request are served');
    else log.warn({ count: messages.length, records }, 'records of the /v1 request are set aside');
  }

  #refuseLate(expiry: number, servedDigest: string): void {
    const newest = Math.max(this.#newestExpiry, expiryOfDigest(servedDigest));
    const latest =
      this.#options.clock.wallTime() / 1000 + longestLifetimeSeconds + clockSkewSeconds;
    // An expiry beyond the longest lifetime is from before the clock was set back.
    if (expiry < newest && newest <= latest) {
      throw new CausewayError('unauthorized', 'the token is older than the last applied token');
    }
  }
}

function nameOf({ address, port, protocol }: FrontendIdRecord): string {
  return `${address} ${protocol}/${port}`;
}

function plain(status: number, reason: string): { reply: Reply; refusal: Refusal } {
  return { reply: { status, body: { error: { reason } } }, refusal: { status, reason } };
}

export function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}
