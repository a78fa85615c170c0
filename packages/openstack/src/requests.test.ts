import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { password, startMinimalCloud } from '../../../test/openstack/minimal-cloud.ts';
import { type Answer, startScriptedServer } from '../../../test/openstack/scripted-server.ts';
import { collect } from './collect.ts';
import { OpenStackError } from './error.ts';
import { Neutron } from './neutron/neutron.ts';

const call = { signal: new AbortController().signal };
const port = { id: 'x', network_id: 'n', name: 'a', fixed_ips: [] };
const failing = (...answers: Answer[]) => {
  let index = 0;
  return () => answers[Math.min(index++, answers.length - 1)] ?? { status: 500 };
};
const ok: Answer = { status: 200, body: { port } };
const created: Answer = { status: 201, body: { port } };
const lost: Answer = { status: 0, cut: true };

describe('a request', () => {
  it('carries the token, and the answer is parsed', async () => {
    await using test = await startMinimalCloud(failing(ok));
    const found = await new Neutron(test.cloud.session()).ports.get('x', call);
    expect(found).toMatchObject({ id: 'x', networkId: 'n', name: 'a' });
    expect(test.calls()[0]).toMatchObject({ method: 'GET', path: '/network/v2.0/ports/x' });
    expect(test.calls()[0]?.headers['x-auth-token']).toBe('token-1');
  });

  const busy = 'Project busy. Unable to lock the project. Please try again.';
  it.each([
    ['GET', [lost, ok], 2],
    ['GET', [{ status: 502 }, { status: 503 }, ok], 3],
    ['GET', [{ status: 429, headers: { 'retry-after': '0' } }, ok], 2],
    ['PUT', [lost, ok], 2],
    ['PUT', [{ status: 504 }, ok], 2],
    ['DELETE', [lost, { status: 404 }], 2],
    ['DELETE', [{ status: 503 }, { status: 204 }], 2],
    ['POST', [{ status: 429 }, created], 2],
    ['POST', [{ status: 503, body: { faultstring: busy } }, created], 2],
  ] as const)('%s is repeated where that is safe', async (method, answers, requests) => {
    await using test = await startMinimalCloud(failing(...answers));
    const { ports } = new Neutron(test.cloud.session());
    if (method === 'GET') await ports.get('x', call);
    if (method === 'PUT') await ports.update('x', { name: 'a' }, call);
    if (method === 'DELETE') await ports.delete('x', call);
    if (method === 'POST') await ports.create({ name: 'a', networkId: 'n' }, call);
    expect(test.calls()).toHaveLength(requests);
  });

  it.each([
    ['a POST with a lost answer', lost, 'unknown', undefined],
    ['a POST that a proxy could not forward', { status: 502 }, 'unknown', 502],
    ['a POST that fails inside the service', { status: 500 }, 'unknown', 500],
    ['a POST that is refused', { status: 400 }, 'refused', 400],
  ] as const)('%s is not repeated', async (_what, answer, outcome, status) => {
    await using test = await startMinimalCloud(failing(answer, created));
    const { ports } = new Neutron(test.cloud.session());
    const failure = await ports
      .create({ name: 'a', networkId: 'n' }, call)
      .catch((e: unknown) => e);
    expect(failure).toBeInstanceOf(OpenStackError);
    expect(failure).toMatchObject({ outcome, status });
    expect(test.calls()).toHaveLength(1);
  });

  it('reuses connections for repeatable requests, and opens one for every POST', async () => {
    await using test = await startMinimalCloud(({ method }) => (method === 'POST' ? created : ok));
    const { ports } = new Neutron(test.cloud.session());
    for (let round = 0; round < 3; round += 1) {
      await ports.get('x', call);
      await ports.create({ name: 'a', networkId: 'n' }, call);
    }
    const connections = (method: string) =>
      new Set(test.calls().flatMap((one) => (one.method === method ? [one.connection] : []))).size;
    expect({ get: connections('GET'), post: connections('POST') }).toEqual({ get: 1, post: 3 });
  });

  it('repeats a POST that was never sent, and reports that when it gives up', async () => {
    const gone = await startScriptedServer(() => ({ status: 200 }));
    await gone.close();
    await using test = await startMinimalCloud(failing(ok), {
      config: { endpoints: { network: gone.url } },
    });
    const { ports } = new Neutron(test.cloud.session());
    const failure = await ports
      .create({ name: 'a', networkId: 'n' }, call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'unavailable', outcome: 'not-sent', status: undefined });
  });

  it('ends at its deadline, and immediately when its caller aborts', async () => {
    await using test = await startMinimalCloud(() => ({ status: 200, hang: true }));
    const { ports } = new Neutron(test.cloud.session());
    await expect(ports.get('x', { ...call, deadlineMs: 30 })).rejects.toMatchObject({
      code: 'timeout',
    });
    const controller = new AbortController();
    const waiting = ports.get('x', { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    await expect(ports.get('x', { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
  });

  it('aborts one attempt early enough to try again', async () => {
    await using test = await startMinimalCloud(failing({ status: 200, hang: true }, ok), {
      attemptDeadlineMs: 50,
    });
    await new Neutron(test.cloud.session()).ports.get('x', call);
    // On a busy machine the second attempt may be aborted as well.
    expect(test.calls().length).toBeGreaterThanOrEqual(2);
  });

  it('stays within the limit on concurrent requests', async () => {
    let running = 0;
    let most = 0;
    let waiting: (() => void)[] = [];
    await using test = await startMinimalCloud(
      async () => {
        running += 1;
        most = Math.max(most, running);
        // Held until three requests are here: with fewer at once the test would not end, more would show in
        // `most`.
        const held = new Promise<void>((resolve) => waiting.push(resolve));
        if (waiting.length === 3) {
          for (const release of waiting) release();
          waiting = [];
        }
        await held;
        running -= 1;
        return ok;
      },
      { concurrency: 3 },
    );
    const { ports } = new Neutron(test.cloud.session());
    await Promise.all(Array.from({ length: 30 }, () => ports.get('x', call)));
    expect(most).toBe(3);
  });

  it('fails with a helpful message that contains no secrets of the request', async () => {
    await using test = await startMinimalCloud(() => ({
      status: 409,
      headers: { 'x-openstack-request-id': 'req-7' },
      body: {
        NeutronError: { type: 'X', message: 'token-1 may not, said correct horse', detail: '' },
      },
    }));
    const { ports } = new Neutron(test.cloud.session());
    const failure = await ports.get('some-id', call).catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'conflict', status: 409, requestId: 'req-7' });
    expect((failure as Error).message).toContain('network GET /ports/{id} answered 409');
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('token-1');
  });

  it('hides the password when Keystone repeats it', async () => {
    await using server = await startScriptedServer(() => ({
      status: 400,
      body: { error: { message: `${password} is not of type 'object'` } },
    }));
    await using test = await startMinimalCloud(failing(ok), {
      config: { authUrl: server.url },
    });
    const failure = await test.cloud
      .session()
      .authenticate(call)
      .catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'invalid', invalidCredentials: false });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(password);
    expect(inspect(test.cloud, { depth: 9, showHidden: true })).not.toContain(password);
  });

  it.each([
    ['not JSON', '<html>login</html>'],
    ['JSON of another shape', { port: { name: 'no id' } }],
    [
      'an invalid address',
      { port: { ...port, fixed_ips: [{ subnet_id: 's', ip_address: '10.1' }] } },
    ],
  ])('is not repeated for an invalid answer: %s', async (_what, body) => {
    await using test = await startMinimalCloud(failing({ status: 200, body }));
    const { ports } = new Neutron(test.cloud.session());
    await expect(ports.get('x', call)).rejects.toBeInstanceOf(OpenStackError);
    expect(test.calls()).toHaveLength(1);
  });
});

describe('a list', () => {
  const named = (...ids: string[]) => ids.map((id) => ({ ...port, id }));
  const next = (href: string) => [
    { rel: 'previous', href: 'http://x/v2.0/ports?page_reverse=True' },
    { rel: 'next', href },
  ];

  it('follows the marker of its links, but never to another host', async () => {
    const pages: Record<string, Answer> = {
      first: {
        status: 200,
        body: {
          ports: named('a', 'b'),
          ports_links: next('http://evil.example/steal?limit=2&marker=b'),
        },
      },
      b: { status: 200, body: { ports: named('c'), ports_links: [] } },
    };
    await using test = await startMinimalCloud(
      (request) => pages[request.query.get('marker') ?? 'first'] ?? { status: 404 },
      { pageSize: 2 },
    );
    const { ports } = new Neutron(test.cloud.session());
    const found = await collect(ports.list({ networkId: 'n' }, call));
    expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(test.calls().map(({ url }) => url)).toEqual([
      '/network/v2.0/ports?network_id=n&limit=2',
      '/network/v2.0/ports?network_id=n&limit=2&marker=b',
    ]);
  });

  it('restarts when its marker object is deleted, and returns nothing twice', async () => {
    let gone = false;
    await using test = await startMinimalCloud(({ query }) => {
      const marker = query.get('marker');
      if (marker === 'b' && !gone) {
        gone = true;
        return { status: 404, body: { NeutronError: { type: 'MarkerNotFound', message: 'm' } } };
      }
      if (marker === null && !gone) {
        return { status: 200, body: { ports: named('a', 'b'), ports_links: next('?marker=b') } };
      }
      return marker === null
        ? { status: 200, body: { ports: named('a', 'c'), ports_links: next('?marker=c') } }
        : { status: 200, body: { ports: named('d') } };
    });
    const found = await collect(new Neutron(test.cloud.session()).ports.list({}, call));
    expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('fails when its pages form a loop', async () => {
    await using test = await startMinimalCloud(() => ({
      status: 200,
      body: { ports: named('a'), ports_links: next('?marker=a') },
    }));
    await expect(
      collect(new Neutron(test.cloud.session()).ports.list({}, call)),
    ).rejects.toMatchObject({ code: 'unavailable' });
    expect(test.calls()).toHaveLength(2);
  });

  it('requests a truncated page again, and returns none of its objects twice', async () => {
    let tries = 0;
    await using test = await startMinimalCloud(() => {
      tries += 1;
      return tries === 1
        ? {
            status: 200,
            headers: { 'content-length': '5000' },
            body: { ports: named('a') },
            breakOff: true,
          }
        : { status: 200, body: { ports: named('a', 'b') } };
    });
    const found = await collect(new Neutron(test.cloud.session()).ports.list({}, call));
    expect(found.map(({ id }) => id)).toEqual(['a', 'b']);
  });
});
