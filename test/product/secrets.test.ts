import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { defineResource } from '../../packages/kubernetes/src/objects/resource.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';
import { startPlayground, type RunningPlayground } from './running-playground.ts';

// Every component runs as its own process with full logging and gets rejections; then the test searches its
// output for every secret that any of them has.

const { signal } = new AbortController();
let directory = '';
let home = '';
let playground: RunningPlayground;
let client: KubeClient;

beforeAll(async () => {
  directory = await scratchDirectory('secrets');
  process.env['CAUSEWAY_LOG_LEVEL'] = 'debug';
  playground = await startPlayground({ directory, words: ['--datapath', 'memory'] });
  delete process.env['CAUSEWAY_LOG_LEVEL'];
  home = path.dirname(playground.ready.kubeconfig);
  const { kubeconfig } = playground.ready;
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  client = new KubeClient({ transport, clock: systemClock });
});
afterAll(async () => {
  await client.close();
  playground.kill('SIGTERM');
  await playground.exited;
  await removeDirectory(directory);
});

const read = (name: string) => fs.readFileSync(path.join(home, name), 'utf8');

/** Every secret of any component, by its origin. */
function givenSecrets(): Map<string, string> {
  const secrets = new Map<string, string>();
  const add = (from: string, value: string) => {
    expect(value.length, from).toBeGreaterThan(4);
    secrets.set(from, value);
  };
  const agents = read('agents-secret').trim();
  add("the agents' shared secret", agents);
  add("the agents' shared secret as hex", Buffer.from(agents, 'base64').toString('hex'));
  add("the dashboard's token", read('dashboard-token').trim());
  const operator = read('ipam/token').trim();
  add("the operator's token", operator);
  add("the secret part of the operator's token", operator.split('_').slice(2).join('_'));
  // The embedded cloud's password is a common word; its clients keep passwords in `Secret`s.
  interface Config {
    readonly users: readonly { readonly user: Record<string, string> }[];
  }
  for (const { user } of (parse(read('kubeconfig')) as Config).users) {
    for (const [key, value] of Object.entries(user)) {
      if (!/token|key/.test(key)) continue;
      add(`${key} of the kubeconfig`, value);
      if (key === 'client-key-data') {
        // One line is enough to recognize it, with any wrapping.
        const lines = Buffer.from(value, 'base64').toString().split('\n');
        add('a line of the key of the kubeconfig', lines[1] ?? '');
      }
    }
  }
  return secrets;
}

/** Forms of a password in the URL of a request, or in JSON. */
function spellings(secret: string): string[] {
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
}

async function provoke(): Promise<void> {
  await client.create(
    services,
    {
      metadata: { namespace: 'default', name: 'web' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    },
    { signal },
  );
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const { ready } = playground;
  const [agent] = ready.gateways;
  await fetch(`${agent?.agent}/v2/status`, bearer(`${read('agents-secret').trim()}.x.y`));
  await fetch(`${agent?.agent}/v1/apply`, { method: 'POST', body: read('agents-secret') });
  const operator = read('ipam/token').trim();
  await fetch(`${ready.ipam.url}/v1/sites`, bearer(`${operator}x`));
  await fetch(`${ready.ipam.url}/v1/sites/${operator}`, bearer(operator));
  await fetch(new URL(`/nowhere?token=${read('dashboard-token')}x`, ready.dashboard.url));
  await fetch(
    new URL('/api/path?service=a/b', ready.dashboard.url),
    bearer(read('dashboard-token')),
  );
  await waitFor('its address', async () => {
    const found = await client.get(services, { namespace: 'default', name: 'web' }, { signal });
    return found.status?.loadBalancer?.ingress?.[0];
  });
}

async function metricsPages(): Promise<Map<string, string>> {
  const port = (name: string, section: string) => {
    const settings = JSON.parse(read(name)) as Record<string, { port: number }>;
    return `http://127.0.0.1:${settings[section]?.port}/metrics`;
  };
  const places = {
    controller: port('controller.yaml', 'observe'),
    discovery: port('discovery.yaml', 'observe'),
    allocator: port('ipam/ipam.yaml', 'metrics'),
    agent: `${playground.ready.gateways[0]?.agent}/metrics`,
  };
  const pages = new Map<string, string>();
  for (const [name, url] of Object.entries(places)) {
    const text = await (await fetch(url)).text();
    expect(text, name).toContain('causeway_');
    pages.set(`metrics of ${name}`, text);
  }
  return pages;
}

/** The initial data of a dashboard page. */
async function dashboardRows(): Promise<string> {
  const given = new AbortController();
  const answer = await fetch(new URL('/api/rows', playground.ready.dashboard.url), {
    headers: { authorization: `Bearer ${read('dashboard-token')}` },
    signal: given.signal,
  });
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (text.includes('event: complete')) break;
  }
  given.abort();
  return text;
}

async function objects(): Promise<Map<string, string>> {
  const kinds = [
    { group: '', version: 'v1', plural: 'events', kind: 'Event' },
    { group: '', version: 'v1', plural: 'services', kind: 'Service' },
    { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' },
    { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' },
  ];
  const found = new Map<string, string>();
  for (const kind of kinds) {
    const all: object[] = [];
    for await (const each of client.list(defineResource({ ...kind, namespaced: true }), { signal }))
      all.push(each);
    found.set(kind.plural, JSON.stringify(all));
  }
  return found;
}

test('no secret is in logs, metrics, Events, other objects or the dashboard', async () => {
  await provoke();
  const outputs = new Map([
    ...(await metricsPages()),
    ...(await objects()),
    ['the dashboard', await dashboardRows()],
    ...fs
      .readdirSync(home)
      .filter((name) => name.endsWith('.log'))
      .map((name): [string, string] => [name, read(name)]),
  ]);
  expect([...outputs.keys()].filter((name) => name.endsWith('.log')).length).toBeGreaterThan(5);
  expect(outputs.get('events')).toContain('default');
  expect(outputs.get('controller.log')).toContain('debug');
  const secrets = givenSecrets();
  expect(secrets.size).toBeGreaterThan(5);
  const found: string[] = [];
  for (const [where, text] of outputs) {
    for (const [from, secret] of secrets) {
      if (spellings(secret).some((spelling) => text.includes(spelling))) {
        found.push(`${where} has ${from}`);
      }
    }
  }
  expect(found).toEqual([]);
});

test('files with secrets are readable only by their owner', () => {
  const names = ['agents-secret', 'dashboard-token', 'ipam/token', 'clouds.yaml', 'kubeconfig'];
  for (const name of names) {
    expect([name, fs.statSync(path.join(home, name)).mode & 0o077]).toEqual([name, 0]);
  }
  expect(fs.statSync(home).mode & 0o077).toBe(0);
});
