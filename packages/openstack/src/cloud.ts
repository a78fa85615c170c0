import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { LeaseGuard } from '@causeway/base/work/lease-guard';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import type { CallOptions } from './call.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import { OpenStackError, type ServiceName } from './error.ts';
import { Keystone } from './keystone/keystone.ts';
import { TokenSource } from './keystone/token-source.ts';
import type { Token } from './keystone/token.ts';
import { Limiter } from './limiter.ts';
import { Memo } from './memo.ts';
import { openStackMetrics, type OpenStackMetrics } from './metrics.ts';
import { ProjectSessions } from './project-sessions.ts';
import { Requester } from './requester.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts';
import { Session, type Project } from './session.ts';
import { Transport, type RequestCarrier } from './transport.ts';

export interface CloudOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Limit of concurrent requests, over all services and projects. */
  readonly concurrency?: number;
  /** For a whole call, if the caller sets none. */
  readonly deadlineMs?: number;
  /** For one attempt. */
  readonly attemptDeadlineMs?: number;
  readonly retry?: RetryPolicy;
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /** Writes are sent only while this guard allows it. Processes that share the work set it. */
  readonly leaseGuard?: LeaseGuard | undefined;
  /** Replaces HTTP; used by simulations. */
  readonly transport?: RequestCarrier;
}

const defaults = {
  concurrency: 16,
  deadlineMs: 60_000,
  attemptDeadlineMs: 30_000,
  pageSize: 200,
};

/**
 * How long answers about versions are kept. After an upgrade, the new version appears this much later at
 * most.
 */
const keepMs = 10 * 60_000;

/** One cloud: its credentials, its connections and its limit on requests, shared by all callers. */
export class Cloud {
  readonly config: CloudConfig;
  readonly #options: Required<Omit<CloudOptions, 'transport' | 'leaseGuard'>>;
  readonly #metrics: OpenStackMetrics;
  readonly #transport: RequestCarrier;
  readonly #requester: Requester;
  readonly #keystone: Keystone;
  readonly #closing = new AbortController();
  readonly #memo: Memo;
  readonly #configured: Session;
  readonly #projects: ProjectSessions;
  #unscoped: TokenSource | undefined;
  #unscopedSession: Session | undefined;

  constructor(config: CloudConfig, options: CloudOptions) {
    this.config = config;
    this.#options = {
      clock: systemClock,
      random: systemRandom,
      retry: defaultRetryPolicy,
      ...defaults,
      ...options,
    };
    const { concurrency, clock } = this.#options;
    this.#metrics = openStackMetrics(options.metrics);
    this.#memo = new Memo(clock, keepMs);
    this.#transport = options.transport ?? new Transport(config.tls, concurrency);
    this.#requester = new Requester({
      ...this.#options,
      leaseGuard: options.leaseGuard,
      transport: this.#transport,
      limiter: new Limiter(concurrency),
      metrics: this.#metrics,
    });
    this.#keystone = new Keystone({
      authUrl: config.authUrl,
      requester: this.#requester,
      clock,
      metrics: this.#metrics,
    });
    this.#configured = this.#session(
      this.#source((signal) => this.#keystone.issue(config.credentials, config.scope, signal)),
    );
    this.#projects = new ProjectSessions(clock, (projectId) => this.#openProject(projectId));
  }

  /** Calls in the scope of the configuration. */
  session(): Session {
    return this.#configured;
  }

  /** Calls in a project that `projects` listed. All callers in the project share its token. */
  project(projectId: string): Session {
    if (this.config.credentials.method === 'application-credential') {
      throw new CausewayError(
        'unsupported',
        'an application credential is valid for one project only',
        {
          hint: 'Use a user and a password to reach several projects.',
        },
      );
    }
    return this.#projects.get(projectId);
  }

  /** The projects that the credentials have access to, including or excluding the configured one. */
  projects(call: CallOptions): AsyncGenerator<Project> {
    const { credentials, scope } = this.config;
    if (credentials.method !== 'password' || scope.kind === 'unscoped') {
      return this.#configured.projects(call);
    }
    this.#unscopedSession ??= this.#session(this.#unscopedTokens());
    return this.#unscopedSession.projects(call);
  }

  /** Ends every running request. */
  async close(): Promise<void> {
    this.#closing.abort(new CausewayError('aborted', 'the cloud was closed'));
    await this.#transport.close();
  }

  /** The tokens of all projects come from one unscoped token. */
  #openProject(projectId: string): Session {
    const parent = this.#unscopedTokens();
    return this.#session(this.#source((signal) => this.#rescope(parent, projectId, signal)));
  }

  #unscopedTokens(): TokenSource {
    const { credentials, scope } = this.config;
    if (scope.kind === 'unscoped') return this.#configured.tokens;
    this.#unscoped ??= this.#source((signal) =>
      this.#keystone.issue(credentials, { kind: 'unscoped' }, signal),
    );
    return this.#unscoped;
  }

  async #rescope(parent: TokenSource, projectId: string, signal: AbortSignal): Promise<Token> {
    const first = await parent.token(signal);
    const token = await this.#keystone.rescope(first, projectId, signal);
    if (token !== undefined) return token;
    // Keystone refused: the unscoped token may have been revoked, or the credentials have no access to the
    // project.
    parent.reject(first);
    const second = await this.#keystone.rescope(await parent.token(signal), projectId, signal);
    if (second !== undefined) return second;
    throw new OpenStackError('forbidden', 'Keystone issues no token for the project', {
      service: 'identity' satisfies ServiceName,
      outcome: 'refused',
      status: 401,
      hint: 'Check that the project still exists and is enabled, and that the user has a role in it.',
    });
  }

  #source(issue: (signal: AbortSignal) => Promise<Token>): TokenSource {
    const { clock, log, deadlineMs } = this.#options;
    return new TokenSource({ issue, clock, log, deadlineMs, closed: this.#closing.signal });
  }

  #session(tokens: TokenSource): Session {
    const { clock, log, deadlineMs, pageSize, random } = this.#options;
    return new Session({
      config: this.config,
      tokens,
      requester: this.#requester,
      metrics: this.#metrics,
      clock,
      random,
      log,
      deadlineMs,
      pageSize,
      closed: this.#closing.signal,
      memo: this.#memo,
    });
  }
}
