import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from './cloud.ts';
import type { EmbeddedOptions } from './settings.ts';

let cloud: EmbeddedOpenStack;
afterEach(() => cloud.stop());

async function start(options: EmbeddedOptions = {}): Promise<void> {
  cloud = await startEmbeddedOpenStack(options);
}

async function signIn(): Promise<string> {
  const { user, password, domain, project } = cloud.accounts.demo;
  const answer = await fetch(`${cloud.authUrl}/auth/tokens`, {
    method: 'POST',
    body: JSON.stringify({
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: user, password, domain: { name: domain } } },
        },
        scope: { project: { name: project, domain: { name: domain } } },
      },
    }),
  });
  return answer.headers.get('x-subject-token') ?? '';
}

const headers = (token: string) => ({ 'x-auth-token': token });

function privateNetwork(): string {
  const [network] = cloud.neutron.networks.by('name', 'private');
  return network?.id ?? '';
}

async function createPort(token: string): Promise<Response> {
  return fetch(`${cloud.networkUrl}/v2.0/ports`, {
    method: 'POST',
    headers: headers(token),
    body: JSON.stringify({ port: { network_id: privateNetwork(), name: 'made' } }),
  });
}

const made = () => cloud.neutron.ports.count('name', 'made');

describe('If-Match', () => {
  it('accepts a change only with the current revision number', async () => {
    await start({});
    const token = await signIn();
    const { port } = (await (await createPort(token)).json()) as {
      port: { id: string; revision_number: number };
    };
    const rename = async (ifMatch: string) => {
      const answer = await fetch(`${cloud.networkUrl}/v2.0/ports/${port.id}`, {
        method: 'PUT',
        headers: { ...headers(token), 'if-match': ifMatch },
        body: JSON.stringify({ port: { name: 'other' } }),
      });
      return answer.status;
    };
    const seen = `revision_number=${port.revision_number}`;
    expect([await rename(seen), await rename(seen), await rename('7')]).toEqual([200, 412, 400]);
  });
});

describe('simulated time', () => {
  it('expires tokens', async () => {
    const clock = new SimulatedClock();
    await start({ clock, tokenLifetimeMs: 60_000 });
    const token = await signIn();
    const ask = () => fetch(`${cloud.networkUrl}/v2.0/networks`, { headers: headers(token) });
    expect((await ask()).status).toBe(200);
    await clock.advance(59_999);
    expect((await ask()).status).toBe(200);
    await clock.advance(1);
    expect((await ask()).status).toBe(401);
  });

  it('moves load balancers from PENDING_CREATE to ACTIVE', async () => {
    const clock = new SimulatedClock();
    await start({ clock, provisioningDelayMs: 5_000 });
    const token = await signIn();
    const [subnet] = cloud.neutron.subnets.by('name', 'private-v4');
    const answer = await fetch(`${cloud.loadBalancerUrl}/v2/lbaas/loadbalancers`, {
      method: 'POST',
      headers: headers(token),
      body: JSON.stringify({ loadbalancer: { name: 'web', vip_subnet_id: subnet?.id } }),
    });
    expect(answer.status).toBe(201);
    const status = () => cloud.octavia.loadBalancers.by('name', 'web')[0]?.provisioning_status;
    await clock.advance(4_999);
    expect(status()).toBe('PENDING_CREATE');
    await clock.advance(1);
    expect(status()).toBe('ACTIVE');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('faults', () => {
  it('close the connection before or after the request takes effect', async () => {
    await start();
    const token = await signIn();
    const fault = { service: 'network', method: 'POST', path: /\/ports$/, times: 1 } as const;
    cloud.faults.add({ ...fault, effect: { kind: 'drop', when: 'before-commit' } });
    await expect(createPort(token)).rejects.toThrow();
    expect(made()).toBe(0);
    cloud.faults.add({ ...fault, effect: { kind: 'drop', when: 'after-commit' } });
    await expect(createPort(token)).rejects.toThrow();
    expect(made()).toBe(1);
    expect((await createPort(token)).status, 'only once').toBe(201);
  });

  it('replace the answer with or without the effect of the request', async () => {
    await start();
    const token = await signIn();
    const busy = { kind: 'answer', status: 429, retryAfterSeconds: 7 } as const;
    cloud.faults.add({ service: 'network', times: 1, after: 1, effect: busy });
    expect((await createPort(token)).status).toBe(201);
    const refused = await createPort(token);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7']);
    expect(made()).toBe(1);
    cloud.faults.add({ times: 1, effect: { kind: 'lie', status: 502 } });
    expect((await createPort(token)).status).toBe(502);
    expect(made()).toBe(2);
  });

  it('revoke all tokens', async () => {
    await start();
    const token = await signIn();
    cloud.keystone.tokens.revokeAll();
    expect((await createPort(token)).status).toBe(401);
    expect((await createPort(await signIn())).status).toBe(201);
  });

  it('leave requests visible to request listeners', async () => {
    await start();
    const seen: string[] = [];
    const end = cloud.onRequest(({ service, method, status }) => {
      seen.push(`${service} ${method} ${status}`);
    });
    await createPort('none');
    end();
    await signIn();
    expect(seen).toEqual(['network POST 401']);
  });
});

it('simulates the defect of Octavia 11.0.0 on request', async () => {
  await start({ populatedCreateDefect: true });
  const demo = cloud.keystone.directory.findProject('default', 'demo');
  const [subnet] = cloud.neutron.subnets.by('name', 'private-v4');
  const row = cloud.addLoadBalancer(demo?.id ?? '', {
    vip_subnet_id: subnet?.id,
    listeners: [{ name: 'l', protocol: 'TCP', protocol_port: 80 }],
  });
  expect(row.provisioning_status).toBe('ACTIVE');
  expect(cloud.octavia.listenersOf(row.id)[0]?.provisioning_status).toBe('PENDING_CREATE');
});

it('supports thousands of projects and load balancers with lookups by index', async () => {
  await start();
  const { directory } = cloud.keystone;
  const network = cloud.neutron.networks.get(privateNetwork());
  const [subnet] = cloud.neutron.subnets.by('name', 'private-v4');
  const demo = directory.findUser('default', 'demo');
  for (let index = 0; index < 1_000; index += 1) {
    const project = directory.addProject('default', `tenant-${index}`);
    directory.grant(demo?.id ?? '', project.id, 'member', 'load-balancer_member');
    cloud.addLoadBalancer(project.id, { name: 'web', vip_subnet_id: subnet?.id });
  }
  expect(network?.name).toBe('private');
  expect(directory.projectsOf(demo?.id ?? '')).toHaveLength(1_002);
  const last = directory.findProject('default', 'tenant-999');
  expect(cloud.octavia.loadBalancers.count('project_id', last?.id ?? '')).toBe(1);
  expect(new Set(cloud.octavia.loadBalancers.all().map((row) => row.vip_address)).size).toBe(1_000);
});
