import { expect } from 'vitest';
import { request, type Dispatcher } from 'undici';
import { accounts } from '../../services/openstack/seed.ts';
import { waitFor } from '../../services/wait-for.ts';
import type { AccountName, RunningCloud } from './clouds.ts';
import { firstOf, listOf, memberOf, type WireObject } from './wire-object.ts';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body, or an empty object where it is not JSON. */
  readonly body: WireObject;
}

export const unknownId = '00000000-0000-0000-0000-000000000000';

/** Sends requests to a cloud without a client library. */
export class Wire {
  readonly cloud: RunningCloud;
  readonly #tokens = new Map<string, string>();

  constructor(cloud: RunningCloud) {
    this.cloud = cloud;
  }

  async send(
    method: Dispatcher.HttpMethod,
    url: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<WireAnswer> {
    const answer = await request(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, body: parse(text) };
  }

  identity(method: Dispatcher.HttpMethod, path: string, body?: unknown, headers = {}) {
    return this.send(method, `${this.cloud.authUrl}${path}`, body, headers);
  }

  async token(account: AccountName): Promise<string> {
    const known = this.#tokens.get(account);
    if (known !== undefined) return known;
    const { user, password, domain, project } = accounts[account];
    const answer = await this.identity('POST', '/auth/tokens', {
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: user, password, domain: { name: domain } } },
        },
        scope: { project: { name: project, domain: { name: domain } } },
      },
    });
    const token = String(answer.headers['x-subject-token']);
    this.#tokens.set(account, token);
    return token;
  }

  /** A request to Neutron, by default as `demo`. */
  async network(
    method: Dispatcher.HttpMethod,
    path: string,
    body?: unknown,
    account: AccountName = 'demo',
  ): Promise<WireAnswer> {
    const headers = { 'x-auth-token': await this.token(account) };
    return this.send(method, `${this.cloud.networkUrl}/v2.0${path}`, body, headers);
  }

  /** A request to Octavia, by default as `demo`. */
  async balancing(
    method: Dispatcher.HttpMethod,
    path: string,
    body?: unknown,
    account: AccountName = 'demo',
  ): Promise<WireAnswer> {
    const headers = { 'x-auth-token': await this.token(account) };
    return this.send(method, `${this.cloud.loadBalancerUrl}/v2/lbaas${path}`, body, headers);
  }

  /** Creates an object in Neutron, which must succeed, and returns it. */
  async make(
    path: string,
    kind: string,
    values: object,
    account: AccountName = 'demo',
  ): Promise<WireObject> {
    const answer = await this.network('POST', path, { [kind]: values }, account);
    expect(answer.status, answer.text).toBe(201);
    return memberOf(answer.body, kind);
  }

  async find(path: string, collection: string): Promise<string> {
    const answer = await this.network('GET', path);
    return firstOf(listOf(answer.body, collection)).id;
  }

  /** Waits until the load balancer is out of PENDING_*; returns its status, or `gone`. */
  settled(id: string): Promise<string> {
    return waitFor(
      'the load balancer to leave PENDING_*',
      async () => {
        const { status, body } = await this.balancing('GET', `/loadbalancers/${id}`);
        if (status === 404) return 'gone';
        const provisioning = body.loadbalancer.provisioning_status;
        return provisioning.startsWith('PENDING') ? undefined : provisioning;
      },
      { intervalMs: 200 },
    );
  }
}

function parse(text: string): WireObject {
  try {
    return JSON.parse(text) as WireObject;
  } catch {
    return {} as WireObject;
  }
}

/** One line of a table of rejections: the request, and the service's answer. */
export interface Refusal {
  readonly name: string;
  readonly status: number;
  /** Neutron's name for it. */
  readonly type?: string;
  readonly message: RegExp;
}

export function expectNeutronRefusal(answer: WireAnswer, expected: Refusal): void {
  expect(answer.status, `${expected.name}: ${answer.text}`).toBe(expected.status);
  const error = answer.body.NeutronError;
  if (expected.type !== undefined) expect(error?.type, expected.name).toBe(expected.type);
  expect(error?.message, expected.name).toMatch(expected.message);
}

export function expectOctaviaRefusal(answer: WireAnswer, expected: Refusal): void {
  expect(answer.status, `${expected.name}: ${answer.text}`).toBe(expected.status);
  expect(answer.body.faultstring ?? answer.text, expected.name).toMatch(expected.message);
}
