import { describe, expect, it } from 'vitest';
import {
  configFor,
  startMinimalCloud,
  tokenAnswer,
} from '../../../test/openstack/minimal-cloud.ts';
import {
  type Answer,
  type Received,
  startScriptedServer,
} from '../../../test/openstack/scripted-server.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Cloud } from './cloud.ts';
import { collect } from './collect.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import { areCredentialsInvalid } from './error.ts';
import { Neutron } from './neutron/neutron.ts';
import { Secret } from './secret.ts';

const call = { signal: new AbortController().signal };
const port = { id: 'x', network_id: 'n' };
const quickRetries = { attempts: 2, backoff: { baseMs: 1, maxMs: 1, jitter: 0 } };

async function startCloud(
  answer: (request: Received) => Answer,
  config: Partial<CloudConfig> = {},
  clock?: SimulatedClock,
) {
  const server = await startScriptedServer(answer);
  const cloud = new Cloud(configFor(server.url, config), {
    log: discardLog,
    metrics: noMetrics,
    retry: quickRetries,
    ...(clock === undefined ? {} : { clock }),
  });
  return {
    server,
    cloud,
    logins: () => server.received.filter(({ path }) => path.endsWith('/auth/tokens')),
    async [Symbol.asyncDispose]() {
      await cloud.close();
      await server.close();
    },
  };
}

const isUnscoped = ({ body }: Received) =>
  (body as { auth: { scope?: unknown } }).auth.scope === 'unscoped';

interface ProjectLogin {
  readonly auth: {
    readonly identity: { readonly methods: string[]; readonly token: { readonly id: string } };
    readonly scope: { readonly project: { readonly id: string } };
  };
}

describe('tokens', () => {
  it('1,000 callers with a token that was just refused cause one renewal', async () => {
    let valid = 'token-1';
    await using test = await startMinimalCloud(({ headers }) =>
      headers['x-auth-token'] === valid ? { status: 200, body: { port } } : { status: 401 },
    );
    const { ports } = new Neutron(test.cloud.session());
    await ports.get('x', call);
    valid = 'token-2';
    await Promise.all(Array.from({ length: 1_000 }, () => ports.get('x', call)));
    expect(test.logins()).toHaveLength(2);
  });

  it('are renewed once on a 401, not repeatedly', async () => {
    await using test = await startMinimalCloud(() => ({ status: 401 }));
    const { ports } = new Neutron(test.cloud.session());
    const failure = await ports.get('x', call).catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(areCredentialsInvalid(failure)).toBe(false);
    expect(test.logins()).toHaveLength(2);
    expect(test.calls()).toHaveLength(2);
  });

  it('a POST that was refused for its token is sent again', async () => {
    await using test = await startMinimalCloud(({ headers }) =>
      headers['x-auth-token'] === 'token-2' ? { status: 201, body: { port } } : { status: 401 },
    );
    await new Neutron(test.cloud.session()).ports.create({ name: 'a', networkId: 'n' }, call);
    expect(test.calls()).toHaveLength(2);
  });

  it('are renewed before they expire, independently of both wall clocks', async () => {
    const clock = new SimulatedClock();
    let issued = 0;
    // The server's wall clock is a year ahead; only the lifetime of the token counts.
    const serverNow = clock.wallTime() + 365 * 86_400_000;
    await using test = await startCloud(
      ({ path }) => {
        if (!path.endsWith('/auth/tokens')) return { status: 200, body: { port } };
        issued += 1;
        return tokenAnswer(`token-${issued}`, 60_000, serverNow);
      },
      {},
      clock,
    );
    const { ports } = new Neutron(test.cloud.session());
    await ports.get('x', call);
    await clock.advance(40_000);
    await ports.get('x', call);
    expect(test.logins()).toHaveLength(1);
    await clock.advance(10_000);
    await ports.get('x', call);
    expect(test.logins()).toHaveLength(2);
  });

  it('that are still valid are used while Keystone is unavailable', async () => {
    const clock = new SimulatedClock();
    let away = false;
    await using test = await startCloud(
      ({ path }) => {
        if (!path.endsWith('/auth/tokens')) return { status: 200, body: { port } };
        return away ? { status: 400 } : tokenAnswer('token', 100_000, clock.wallTime());
      },
      {},
      clock,
    );
    const { ports } = new Neutron(test.cloud.session());
    await ports.get('x', call);
    away = true;
    await clock.advance(90_000);
    await ports.get('x', call);
    await ports.get('x', call);
    expect(test.logins()).toHaveLength(2);
    await clock.advance(10_001);
    await expect(ports.get('x', call)).rejects.toMatchObject({ service: 'identity' });
  });

  it('are still fetched for other callers when one caller gives up', async () => {
    let answerLogin: (() => void) | undefined;
    const asked = Promise.withResolvers<void>();
    await using server = await startScriptedServer(async ({ path }) => {
      if (!path.endsWith('/auth/tokens')) return { status: 200, body: { port } };
      asked.resolve();
      await new Promise<void>((resolve) => (answerLogin = resolve));
      return tokenAnswer('token');
    });
    const cloud = new Cloud(configFor(server.url), { log: discardLog, metrics: noMetrics });
    const { ports } = new Neutron(cloud.session());
    const controller = new AbortController();
    const impatient = ports.get('x', { signal: controller.signal });
    const patient = ports.get('x', call);
    await asked.promise;
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: 'aborted' });
    answerLogin?.();
    await expect(patient).resolves.toMatchObject({ id: 'x' });
    await cloud.close();
  });
});

const refusal = {
  status: 401,
  body: {
    error: {
      code: 401,
      message: 'The request you have made requires authentication.',
      title: 'Unauthorized',
    },
  },
};

describe('credentials', () => {
  it('are invalid if Keystone refuses them', async () => {
    await using test = await startCloud(() => refusal);
    const failure = await test.cloud
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'unauthorized', invalidCredentials: true });
    expect(areCredentialsInvalid(failure)).toBe(true);
  });

  it("are invalid if Keystone can't find them", async () => {
    const message = 'Could not find Application Credential: ac.';
    await using test = await startCloud(
      () => ({ status: 404, body: { error: { code: 404, message, title: 'Not Found' } } }),
      {
        credentials: {
          method: 'application-credential',
          credential: { id: 'ac' },
          secret: new Secret('s3cret'),
        },
        scope: { kind: 'as-issued' },
      },
    );
    const failure = await test.cloud
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'unauthorized', status: 404 });
    expect(areCredentialsInvalid(failure)).toBe(true);
  });

  it.each([
    ['a page', '<!doctype html><title>404 Not Found</title><h1>Not Found</h1>'],
    ['another service', { message: 'The resource could not be found.' }],
    [
      'a Keystone before Rocky',
      { error: { code: 404, message: 'The resource could not be found.', title: 'Not Found' } },
    ],
  ])(
    'are not reported as invalid for a wrong address that answers with %s',
    async (_what, body) => {
      await using test = await startCloud(() => ({ status: 404, body }));
      const failure = await test.cloud
        .session()
        .authenticate(call)
        .catch((e: unknown) => e);
      expect(failure).toMatchObject({ code: 'not-found', invalidCredentials: false });
    },
  );

  it('are not reported as invalid for a project without access', async () => {
    await using test = await startCloud((request) =>
      isUnscoped(request) ? tokenAnswer('unscoped') : refusal,
    );
    const failure = await test.cloud
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'forbidden', invalidCredentials: false });
  });

  it.each([
    ['an error of Keystone', { status: 500 }],
    ['a Keystone that is too busy', { status: 503 }],
    ['a connection that breaks', { status: 0, cut: true }],
  ])('are not reported as invalid for %s', async (_what, answer) => {
    await using test = await startCloud(() => answer);
    const failure = await test.cloud
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'unavailable', invalidCredentials: false });
  });

  it('are not reported as invalid for a proxy that requires its own login', async () => {
    await using test = await startCloud(() => ({ status: 401, body: '<html>Log in</html>' }));
    const failure = await test.cloud
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ status: 401, invalidCredentials: false });
  });

  it('are sent in the form of their method', async () => {
    const bodies = async (config: Partial<CloudConfig>) => {
      await using test = await startCloud(() => tokenAnswer('t'), config);
      await test.cloud.session().authenticate(call);
      return test.logins().map(({ body }) => body);
    };
    const user = { name: 'u', domain: { name: 'D' } };
    expect(
      await bodies({
        credentials: { method: 'password', user, password: new Secret('s3cret') },
        scope: { kind: 'project', project: { name: 'p', domain: { id: 'd' } } },
      }),
    ).toEqual([
      {
        auth: {
          identity: { methods: ['password'], password: { user: { ...user, password: 's3cret' } } },
          scope: { project: { name: 'p', domain: { id: 'd' } } },
        },
      },
    ]);
    expect(
      await bodies({
        credentials: {
          method: 'application-credential',
          credential: { id: 'ac' },
          secret: new Secret('s3cret'),
        },
        scope: { kind: 'as-issued' },
      }),
    ).toEqual([
      {
        auth: {
          identity: {
            methods: ['application_credential'],
            application_credential: { id: 'ac', secret: 's3cret' },
          },
        },
      },
    ]);
    expect(
      await bodies({
        credentials: { method: 'token', token: new Secret('tok') },
        scope: { kind: 'system' },
      }),
    ).toEqual([
      {
        auth: {
          identity: { methods: ['token'], token: { id: 'tok' } },
          scope: { system: { all: true } },
        },
      },
    ]);
  });
});

describe('projects', () => {
  it('are listed and opened with one unscoped token', async () => {
    const scoped: string[] = [];
    await using test = await startCloud(
      (request) => {
        const { path, headers, body } = request;
        if (path.endsWith('/auth/projects')) {
          const projects = ['p1', 'p2'].map((id) => ({ id, name: `n-${id}`, enabled: true }));
          return { status: 200, body: { projects, links: { next: null } } };
        }
        if (!path.endsWith('/auth/tokens')) {
          return { status: 200, body: { port: { ...port, name: headers['x-auth-token'] } } };
        }
        if (isUnscoped(request)) return tokenAnswer('unscoped');
        const { scope, identity } = (body as ProjectLogin).auth;
        expect(identity.methods).toEqual(['token']);
        const project = scope.project.id;
        scoped.push(project);
        return project === 'closed' ? refusal : tokenAnswer(`for-${project}`);
      },
      { scope: { kind: 'unscoped' } },
    );
    const found = await collect(test.cloud.projects(call));
    expect(found.map(({ name }) => name)).toEqual(['n-p1', 'n-p2']);
    for (const { id } of found) {
      const session = test.cloud.project(id);
      const got = await new Neutron(session).ports.get('x', call);
      expect(got.name).toBe(`for-${id}`);
    }
    const closed = await test.cloud
      .project('closed')
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(closed).toMatchObject({ code: 'forbidden', invalidCredentials: false });
    expect(scoped).toEqual(['p1', 'p2', 'closed', 'closed']);
    // One unscoped login, and one more because the refused project could have meant a revoked token.
    expect(test.logins()).toHaveLength(2 + 4);
  });

  it('are listed even if the configured project does not exist', async () => {
    await using test = await startCloud(
      (request) => {
        if (request.path.endsWith('/auth/projects')) {
          return { status: 200, body: { projects: [{ id: 'p1', name: 'n', enabled: true }] } };
        }
        return isUnscoped(request) ? tokenAnswer('unscoped') : refusal;
      },
      { scope: { kind: 'project', project: { id: 'lost' } } },
    );
    expect(await collect(test.cloud.projects(call))).toMatchObject([{ id: 'p1' }]);
  });

  it.each([401, 404])(
    'stay usable after Keystone answers %i to an unscoped token',
    async (code) => {
      let parents = 0;
      const revoked = new Set<string>();
      await using test = await startCloud(
        (request) => {
          if (isUnscoped(request)) return tokenAnswer(`parent-${(parents += 1)}`);
          const { token } = (request.body as ProjectLogin).auth.identity;
          if (!revoked.has(token.id)) return tokenAnswer(`child-of-${token.id}`);
          const error = { code, message: 'Failed to validate token', title: 'No' };
          return { status: code, body: { error } };
        },
        { scope: { kind: 'unscoped' } },
      );
      const { tokens } = test.cloud.project('p1');
      const first = await tokens.token(call.signal);
      revoked.add('parent-1');
      tokens.reject(first);
      const second = await tokens.token(call.signal);
      expect(second.value.reveal()).toBe('child-of-parent-2');
      expect(parents).toBe(2);
    },
  );

  it('other than its own are not available with an application credential', async () => {
    await using test = await startCloud(() => tokenAnswer('t'), {
      credentials: {
        method: 'application-credential',
        credential: { id: 'a' },
        secret: new Secret('s3cret'),
      },
      scope: { kind: 'as-issued' },
    });
    expect(() => test.cloud.project('p2')).toThrow(/one project/);
  });
});
