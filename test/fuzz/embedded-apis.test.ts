import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InProcessKubernetes } from '../../packages/fake-kubernetes/src/in-process.ts';
import {
  createInProcessOpenStack,
  type InProcessOpenStack,
} from '../../packages/fake-openstack/src/in-process.ts';
import { accounts } from '../../packages/fake-openstack/src/seed.ts';
import { hostileJson, hostileText, nearly } from './hostile.ts';

// The playground's cluster and cloud listen on the loopback address. Any process of the machine may send
// anything: it is answered, and both keep running.

const segment = hostileText.map((text) => encodeURIComponent(text.toWellFormed()) || '-');
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

test('the embedded Kubernetes answers any request in its own form', async () => {
  const kubernetes = new InProcessKubernetes();
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
        },
      ],
    },
  };
  const roots = [
    '/api/v1/namespaces/default/services',
    '/api/v1/namespaces/default/services/web',
    '/api/v1/namespaces/default/services/web/status',
    '/apis/apps/v1/namespaces/default/deployments/web/scale',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
  ];
  const statuses = new Set<number>();
  const types = ['json', 'merge-patch+json', 'json-patch+json', 'apply-patch+yaml'];
  const asked = fc.record({
    method: fc.constantFrom(...methods),
    path: fc.oneof(
      fc.constantFrom(...roots),
      fc.tuple(fc.constantFrom(...roots), segment).map(([root, rest]) => `${root}/${rest}`),
    ),
    query: fc.dictionary(
      fc.constantFrom('labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion'),
      hostileText,
      { maxKeys: 2 },
    ),
    type: fc.constantFrom(...types),
    body: fc.oneof(hostileJson, nearly(service), nearly(definition)),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ method, path, query, type, body }) => {
      const search = new URLSearchParams(
        Object.entries(query).map(([key, value]) => [key, value.toWellFormed()]),
      );
      const answer = await kubernetes.answer({
        method,
        path: `${path}?${search.toString()}`,
        isLong: false,
        headers: { 'content-type': `application/${type}` },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body) ?? '' }),
      });
      const text = Buffer.from(answer.body).toString();
      expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${text}`).not.toBe(500);
      statuses.add(answer.status);
    }),
    { numRuns: 600 },
  );
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404, 422]));
});

/** Logs in like a client. */
function tokenOf(cloud: InProcessOpenStack): string {
  const { user: name, password, domain, project } = accounts.demo;
  const scope = { project: { name: project, domain: { name: domain } } };
  const user = { name, password, domain: { name: domain } };
  const identity = { methods: ['password'], password: { user } };
  const outcome = cloud.answer({
    method: 'POST',
    url: `${cloud.authUrl}/auth/tokens`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth: { identity, scope } }),
  });
  if (outcome === 'dropped') throw new Error('no answer');
  return outcome.headers?.['x-subject-token'] ?? outcome.headers?.['X-Subject-Token'] ?? '';
}

test('the embedded OpenStack answers any request in its own form', () => {
  const cloud = createInProcessOpenStack();
  const token = tokenOf(cloud);
  expect(token).not.toBe('');
  const { id: network_id } = cloud.neutron.networks
    .all()
    .find(({ name }) => name === 'private') ?? {
    id: '',
  };
  const port = { port: { network_id, name: 'p', allowed_address_pairs: [] } };
  const member = { address: '10.10.1.1', protocol_port: 80 };
  const default_pool = { protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', members: [member] };
  const listeners = [{ protocol: 'TCP', protocol_port: 80, default_pool }];
  const { id: vip_subnet_id } = cloud.neutron.subnets.all()[0] ?? { id: '' };
  const balancer = { loadbalancer: { name: 'b', vip_subnet_id, listeners } };
  const roots = [
    ...['ports', 'floatingips', 'networks', 'subnets', 'security-groups'].map(
      (each) => `http://network.sandbox/v2.0/${each}`,
    ),
    ...['loadbalancers', 'listeners', 'pools', 'healthmonitors'].map(
      (each) => `http://load-balancer.sandbox/v2/lbaas/${each}`,
    ),
    `${cloud.authUrl}/auth/tokens`,
  ];
  const statuses = new Set<number>();
  const asked = fc.record({
    method: fc.constantFrom(...methods),
    url: fc.oneof(
      fc.constantFrom(...roots),
      fc.tuple(fc.constantFrom(...roots), segment).map(([root, rest]) => `${root}/${rest}`),
    ),
    query: fc.dictionary(fc.constantFrom('limit', 'marker', 'fields', 'name'), hostileText, {
      maxKeys: 2,
    }),
    body: fc.oneof(
      hostileJson,
      ...[port, balancer].flatMap((each) => [fc.constant(each), nearly(each)]),
    ),
  });
  const send = (method: string, url: string, body: string | undefined) =>
    cloud.answer({
      method,
      url,
      body,
      headers: { 'x-auth-token': token, 'content-type': 'application/json' },
    });
  expect(send('POST', roots[0] ?? '', JSON.stringify(port))).toMatchObject({ status: 201 });
  fc.assert(
    fc.property(asked, ({ method, url, query, body }) => {
      const search = new URLSearchParams(
        Object.entries(query).map(([key, value]) => [key, value.toWellFormed()]),
      );
      const sent = method === 'GET' ? undefined : JSON.stringify(body);
      const outcome = send(method, `${url}?${search.toString()}`, sent);
      // The real services fail at some requests, too, and the fakes imitate that; but they answer.
      statuses.add(outcome === 'dropped' ? 0 : outcome.status);
    }),
    { numRuns: 600 },
  );
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404]));
  expect(statuses).not.toContain(0);
});
