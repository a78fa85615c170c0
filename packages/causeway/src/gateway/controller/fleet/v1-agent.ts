import { SignJWT } from 'jose';
import { Agent, request } from '@causeway/base/http/http-client';
import type { Acknowledgement } from '../../protocol/acknowledgement.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { parseFrontendKey, type Frontend, type FrontendKey } from '../../protocol/frontend.ts';
import type { Assignment, Policy, PolicyKey } from '../../protocol/policy.ts';
import { UpdateReader, type Update } from '../../protocol/update.ts';
import { formatFrontendId } from '../../protocol/records.ts';
import { revisions } from '../../protocol/revision.ts';
import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { withoutControls } from '@causeway/base/text/printable';
import type { Clock } from '@causeway/base/time/clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { AgentClient } from './agent-client-contract.ts';
import { writeV1Config } from './v1-config.ts';

export interface V1AgentOptions {
  readonly name: string;
  /** The address on which the agent listens, such as `http://192.0.2.7:15203`. */
  readonly url: string;
  readonly secret: Uint8Array;
  readonly clock: Clock;
  readonly limitMs: number;
  readonly tls?: { readonly ca?: string };
}

/** The default lifetime in the controller of ch-k8s-lbaas. */
const lifetimeSeconds = 15;
const resendAfterMs = 250_000;
/** The largest token that the agent of ch-k8s-lbaas accepts. */
const largestToken = 1_048_576;
/** The number of characters of an error that are shown. */
const longestAnswer = 400;

/**
 * A client for the agent of ch-k8s-lbaas, which behaves like its controller: it always sends the full state,
 * and the agent reports nothing about itself. The client only knows what it has sent, so each start pushes
 * everything.
 */
export class V1Agent implements AgentClient {
  readonly #options: V1AgentOptions;
  readonly #dispatcher: Agent;
  #generation = 0;
  #sentAt = 0;
  readonly #frontends = new Map<FrontendKey, Frontend>();
  readonly #policies = new Map<PolicyKey, Policy>();
  readonly #assignments = new Map<Address, Assignment>();
  readonly #nodes = new Set<Address>();

  constructor(options: V1AgentOptions) {
    this.#options = options;
    this.#dispatcher = new Agent({
      connect: { ...options.tls, timeout: options.limitMs },
      headersTimeout: options.limitMs,
      bodyTimeout: options.limitMs,
    });
  }

  /** The agent has no status request, so the client resends the state, like its own controller. */
  async status(signal: AbortSignal): Promise<AgentStatus> {
    const age = this.#options.clock.monotonic() - this.#sentAt;
    if (this.#generation > 0 && age >= resendAfterMs) await this.#apply(signal);
    return this.#describe();
  }

  async push(lines: Iterable<string>, signal: AbortSignal): Promise<Acknowledgement> {
    const reader = new UpdateReader();
    for (const line of lines) reader.line(line.trimEnd());
    const push = reader.result();
    if (push.header.kind === 'delta' && push.header.base !== this.#generation) {
      throw new CausewayError('conflict', 'the delta is based on another state');
    }
    // The agent's state is unknown until the push succeeds: after a failure, the full state is sent.
    this.#generation = 0;
    this.#take(push);
    const problems = await this.#apply(signal);
    this.#generation = push.header.generation;
    return {
      generation: this.#generation,
      committed: true,
      older: [],
      errors: [...problems].map(([key, message]) => ({
        frontend: formatFrontendId(parseFrontendKey(key)),
        errors: [{ record: 0, message }],
      })),
    };
  }

  /** The agent has no status stream: one status, and then no more data. */
  async *events(signal: AbortSignal): AsyncGenerator<AgentStatus> {
    yield this.#describe();
    await whenAborted(signal);
  }

  /** The agent can't exclude unhealthy backends. */
  sendUnhealthy(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  #take(push: Update): void {
    if (push.header.kind === 'state') {
      for (const each of [this.#frontends, this.#policies, this.#assignments, this.#nodes]) {
        each.clear();
      }
    }
    for (const key of push.removedFrontends) this.#frontends.delete(key);
    for (const key of push.removedPolicies) this.#policies.delete(key);
    for (const address of push.removedAssignments) this.#assignments.delete(address);
    for (const address of push.removedNodes) this.#nodes.delete(address);
    for (const [key, frontend] of push.frontends) this.#frontends.set(key, frontend);
    for (const [key, policy] of push.policies) this.#policies.set(key, policy);
    for (const [key, assignment] of push.assignments) this.#assignments.set(key, assignment);
    for (const address of push.nodes.keys()) this.#nodes.add(address);
  }

  async #apply(signal: AbortSignal): Promise<ReadonlyMap<FrontendKey, string>> {
    const { claim, problems } = writeV1Config({
      frontends: this.#frontends.values(),
      nodes: this.#nodes,
      policies: this.#policies,
      assignments: this.#assignments.values(),
    });
    await this.#send(claim, signal);
    this.#sentAt = this.#options.clock.monotonic();
    return problems;
  }

  async #send(claim: object, signal: AbortSignal): Promise<void> {
    const { name, url, secret, clock } = this.#options;
    const token = await new SignJWT({ 'load-balancer-config': claim })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setExpirationTime(Math.floor(clock.wallTime() / 1000) + lifetimeSeconds)
      .sign(secret);
    if (token.length > largestToken) {
      throw new CausewayError(
        'exhausted',
        `the configuration has ${token.length} bytes, and the agent ${name} accepts ${largestToken}`,
        { hint: 'Install the agent of Causeway on this gateway: it has no such limit.' },
      );
    }
    let response;
    let body;
    try {
      response = await request(new URL('/v1/apply', url), {
        method: 'POST',
        headers: { 'content-type': 'application/jwt' },
        body: token,
        dispatcher: this.#dispatcher,
        signal,
      });
      body = await readStart(response.body);
    } catch (cause) {
      if (signal.aborted) throw CausewayError.from(cause);
      const message = `the agent ${name} at ${url} does not answer`;
      throw new CausewayError('unavailable', message, { cause });
    }
    if (response.statusCode !== 200) throw refusal(name, response.statusCode, body);
  }

  #describe(): AgentStatus {
    return {
      agent: this.#options.name,
      version: 'ch-k8s-lbaas',
      revisions,
      generation: this.#generation,
      frontends: this.#frontends.size,
      older: [],
      errors: [],
      notFailoverSafe: [],
      sound: true,
      announcer: { role: 'unknown', since: null, reason: null },
      frozen: null,
      drained: null,
      undoSteps: 0,
      unhealthy: { heard: 0, seen: [], acted: [] },
      alarms: [],
      kernelSettings: [],
      connections: null,
    };
  }
}

/** The beginning of an answer. The rest is discarded. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    if (text.length < longestAnswer) text += chunk.toString('utf8');
  }
  return withoutControls(text.trim().slice(0, longestAnswer));
}

/** The agent answers a request with a wrong token without a body, and explains all other errors. */
function refusal(name: string, status: number, body: string): CausewayError {
  const answer = body === '' ? '' : `: ${body}`;
  switch (status) {
    case 400:
      if (body !== '') {
        return new CausewayError('invalid', `the agent ${name} rejects the configuration${answer}`);
      }
      return new CausewayError('unauthorized', `the agent ${name} refuses the token`, {
        hint: 'Check that both sides have the same secret and the same time.',
      });
    case 500:
      return new CausewayError(
        'internal',
        `the agent ${name} could not apply the configuration${answer}`,
        { hint: "Check the agent's own log for errors of nft or keepalived." },
      );
    default:
      return new CausewayError('invalid', `the agent ${name} answers with ${status}${answer}`);
  }
}
