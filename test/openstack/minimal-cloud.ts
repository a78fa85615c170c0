import { Cloud, type CloudOptions } from '../../packages/openstack/src/cloud.ts';
import type { CloudConfig } from '../../packages/openstack/src/config/cloud-config.ts';
import { Secret } from '../../packages/openstack/src/secret.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import {
  type Answer,
  type Received,
  type ScriptedServer,
  startScriptedServer,
} from './scripted-server.ts';

export const password = 'correct horse';

/** A configuration for a server that serves Keystone and every other service on one address. */
export function configFor(url: string, change: Partial<CloudConfig> = {}): CloudConfig {
  return {
    name: 'test',
    authUrl: `${url}/identity`,
    credentials: {
      method: 'password',
      user: { name: 'demo', domain: { id: 'default' } },
      password: new Secret(password),
    },
    scope: { kind: 'project', project: { id: 'p1' } },
    interface: 'public',
    endpoints: { network: `${url}/network`, 'load-balancer': `${url}/lb` },
    tls: { verify: true },
    ...change,
  };
}

/** The answer to POST /v3/auth/tokens. */
export function tokenAnswer(value: string, lifeMs = 3_600_000, now = Date.now()): Answer {
  return {
    status: 201,
    headers: { 'x-subject-token': value, date: new Date(now).toUTCString() },
    body: {
      token: {
        issued_at: new Date(now).toISOString(),
        expires_at: new Date(now + lifeMs).toISOString(),
        project: { id: 'p1' },
        user: { id: 'u1' },
        catalog: [],
      },
    },
  };
}

export interface MinimalCloud extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly cloud: Cloud;
  /** The requests to services other than Keystone. */
  readonly calls: () => Received[];
  readonly logins: () => Received[];
}

const quickRetries = { attempts: 3, backoff: { baseMs: 1, maxMs: 5, jitter: 0 } };

/** A cloud that accepts every login; the test provides all other answers. */
export async function startMinimalCloud(
  answer: (request: Received) => Answer | Promise<Answer>,
  options: Partial<CloudOptions> & {
    config?: Partial<CloudConfig> | ((url: string) => Partial<CloudConfig>);
  } = {},
): Promise<MinimalCloud> {
  let tokens = 0;
  const isLogin = (request: Received) => request.path.endsWith('/auth/tokens');
  const server = await startScriptedServer((request) =>
    isLogin(request) ? tokenAnswer(`token-${(tokens += 1)}`) : answer(request),
  );
  const { config, ...rest } = options;
  const change = typeof config === 'function' ? config(server.url) : config;
  const cloud = new Cloud(configFor(server.url, change), {
    log: discardLog,
    metrics: noMetrics,
    retry: quickRetries,
    ...rest,
  });
  return {
    server,
    cloud,
    calls: () => server.received.filter((request) => !isLogin(request)),
    logins: () => server.received.filter(isLogin),
    async [Symbol.asyncDispose]() {
      await cloud.close();
      await server.close();
    },
  };
}
