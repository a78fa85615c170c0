import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Random } from '@causeway/base/simulation/random';
import type { CallOptions } from './call.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import type { ServiceName } from './error.ts';
import type { Fields } from './fields.ts';
import { chooseEndpoint } from './keystone/catalog.ts';
import { parseEndpoint, type Endpoint } from './keystone/endpoint.ts';
import type { TokenSource } from './keystone/token-source.ts';
import type { Token } from './keystone/token.ts';
import { LoadBalancerWaiter, type Lookup } from './load-balancing/waiter.ts';
import type { Memo } from './memo.ts';
import type { OpenStackMetrics } from './metrics.ts';
import type { Requester } from './requester.ts';
import { route } from './route.ts';
import { ServiceClient } from './service-client.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly domainId: string;
  readonly enabled: boolean;
}

export interface SessionParts {
  readonly config: CloudConfig;
  readonly tokens: TokenSource;
  readonly requester: Requester;
  readonly metrics: OpenStackMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly deadlineMs: number;
  readonly pageSize: number;
  /** Aborts when the cloud is closed. */
  readonly closed: AbortSignal;
  /** Answers that are the same in every scope of the cloud. */
  readonly memo: Memo;
}

/** A cloud in one scope: its users make calls in that project, with one shared token. */
export class Session {
  readonly #parts: SessionParts;
  readonly #waiters = new Map<ServiceName, LoadBalancerWaiter>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get tokens(): TokenSource {
    return this.#parts.tokens;
  }

  get memo(): Memo {
    return this.#parts.memo;
  }

  /** Gets a token if there is none. This checks the credentials and returns the contents of the token. */
  authenticate(call: CallOptions): Promise<Pick<Token, 'projectId' | 'userId' | 'catalog'>> {
    const { tokens, clock, deadlineMs } = this.#parts;
    return withDeadline(clock, call.deadlineMs ?? deadlineMs, call.signal, 'login', (signal) =>
      tokens.token(signal),
    );
  }

  service(service: ServiceName): ServiceClient {
    return new ServiceClient({
      ...this.#parts,
      service,
      endpoint: (token) => this.#endpoint(service, token),
    });
  }

  /** The shared poller for the service's load balancers in this scope. */
  waiter(service: ServiceName, lookup: Lookup): LoadBalancerWaiter {
    const known = this.#waiters.get(service);
    if (known !== undefined) return known;
    const waiter = new LoadBalancerWaiter(lookup, this.#parts);
    this.#waiters.set(service, waiter);
    return waiter;
  }

  /** Whether the service has an address, in the catalog or in the configuration. */
  async offers(service: ServiceName, call: CallOptions): Promise<boolean> {
    const { config } = this.#parts;
    if (config.endpoints[service] !== undefined) return true;
    const { catalog } = await this.authenticate(call);
    return chooseEndpoint(catalog, service, choiceOf(config)) !== undefined;
  }

  /** Whether the configuration gives the address of the service. */
  isGiven(service: ServiceName): boolean {
    return this.#parts.config.endpoints[service] !== undefined;
  }

  projects(call: CallOptions): AsyncGenerator<Project> {
    return this.service('identity').list(route`/auth/projects`, 'projects', parseProject, call);
  }

  #endpoint(service: ServiceName, token: Token): Endpoint {
    const { config } = this.#parts;
    const override = config.endpoints[service];
    if (override !== undefined) return parseEndpoint(service, override);
    // The login address works; that of the catalog may be meant for another network.
    if (service === 'identity') return parseEndpoint(service, config.authUrl);
    const url = chooseEndpoint(token.catalog, service, choiceOf(config));
    if (url !== undefined) return parseEndpoint(service, url);
    throw new CausewayError('unsupported', `the cloud's catalog has no ${service} service`, {
      hint: 'Check the region and the interface, or configure the address of the service.',
    });
  }
}

function choiceOf(config: CloudConfig) {
  return { interface: config.interface, region: config.region };
}

function parseProject(fields: Fields): Project {
  return {
    id: fields.string('id'),
    name: fields.text('name'),
    domainId: fields.text('domain_id'),
    enabled: fields.boolean('enabled', true),
  };
}
