import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyName, anyTree } from '../../../../test/discovery/any-cloud.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { updatedObject } from './compare-objects.ts';
import type { CurrentObjects } from './content.ts';
import { planProject, type LoadBalancerPlan, type TranslationOptions } from './plan-project.ts';
import type { LoadBalancerView, MemberView, ProjectTree } from './project-tree.ts';

const options: TranslationOptions = {
  backend: 'east',
  serviceType: 'Headless',
  endpointsKind: 'EndpointSlice',
  memberNetworks: [],
};
const project = { id: 'p1', name: 'shop' };
const nothing: CurrentObjects = { services: [], slices: [], endpoints: [] };

const plan = (tree: ProjectTree, current = nothing, changes: Partial<TranslationOptions> = {}) =>
  planProject({ project, namespace: 'shop', tree }, current, { ...options, ...changes });

/** The objects of a cluster after the plans, with the defaults of an API server. */
function after(
  plans: readonly LoadBalancerPlan[],
  before: CurrentObjects = nothing,
): CurrentObjects {
  const objects = new Map<string, KubeObject & { readonly own: string }>();
  const key = (kind: string, object: KubeObject) => `${kind}/${keyOf(object)}`;
  const put = (kind: string, object: KubeObject) => {
    const stored = kind === 'Service' ? served(object) : object;
    objects.set(key(kind, object), { ...structuredClone(stored), own: kind });
  };
  for (const service of before.services) put('Service', service);
  for (const slice of before.slices) put('EndpointSlice', slice);
  for (const object of before.endpoints) put('Endpoints', object);
  for (const { writes, removals } of plans) {
    for (const write of writes) {
      const { resource, wanted } = write;
      const isUpdate = write.verb === 'update';
      put(resource.kind, isUpdate ? updatedObject(resource, write.actual, wanted) : wanted);
    }
    for (const { resource, actual } of removals) objects.delete(key(resource.kind, actual));
  }
  const of = <T extends KubeObject>(kind: string) =>
    [...objects.values()].filter(({ own }) => own === kind) as unknown as T[];
  return {
    services: of<Service>('Service'),
    slices: of<EndpointSlice>('EndpointSlice'),
    endpoints: of<Endpoints>('Endpoints'),
  };
}

function served(service: Service): Service {
  const clusterIP = service.spec?.clusterIP ?? '10.96.0.7';
  return {
    ...service,
    spec: { ...service.spec, clusterIP, clusterIPs: [clusterIP], ipFamilies: ['IPv4'] },
  };
}

const member = (address: string, changes: Partial<MemberView> = {}): MemberView => ({
  address: parseAddress(address),
  port: parsePort(8080),
  weight: 1,
  backup: false,
  adminStateUp: true,
  operatingStatus: 'ONLINE',
  ...changes,
});
const balancer = (
  changes: Partial<LoadBalancerView> = {},
  ...members: MemberView[]
): LoadBalancerView => ({
  id: '5f2c8a1e-0d3b-4c6f-9a7e-112233445566',
  name: 'web',
  adminStateUp: true,
  vipAddress: parseAddress('192.0.2.7'),
  listeners: [
    {
      id: 'l1',
      name: 'HTTP',
      protocol: 'HTTP',
      port: parsePort(80),
      adminStateUp: true,
      pool: { id: 'pool', protocol: 'HTTP', tlsEnabled: false, adminStateUp: true, members },
      l7PoolIds: [],
    },
  ],
  ...changes,
});
const tree = (...loadBalancers: LoadBalancerView[]): ProjectTree => ({
  loadBalancers,
  unclear: [],
});
const verbs = (plans: readonly LoadBalancerPlan[]) =>
  plans.flatMap(({ writes, removals }) => [
    ...writes.map(({ verb, resource }) => `${verb} ${resource.kind}`),
    ...removals.map(({ resource }) => `delete ${resource.kind}`),
  ]);

const one = tree(balancer({}, member('10.0.0.1')));
const current = after(plan(one));

test('creates a Service and a slice with the original names for a new load balancer', () => {
  const [service] = current.services;
  expect(service?.metadata).toMatchObject({
    namespace: 'shop',
    labels: {
      'causeway.dev/backend': 'east',
      'causeway.dev/project-id': 'p1',
      'gimbal.projectcontour.io/backend': 'east',
      'gimbal.projectcontour.io/load-balancer-name': 'web',
    },
    annotations: {
      'causeway.dev/load-balancer-address': '192.0.2.7',
      'causeway.dev/listeners': '{"http-80":{"id":"l1","name":"HTTP","protocol":"HTTP"}}',
    },
  });
  expect(current.slices).toMatchObject([
    {
      metadata: { labels: { 'kubernetes.io/service-name': service?.metadata?.name } },
      addressType: 'IPv4',
      ports: [{ name: 'http-80', port: 8080, protocol: 'TCP', appProtocol: 'http' }],
    },
  ]);
});

describe('writes only necessary changes', () => {
  const edited = (change: (service: Service) => Service): CurrentObjects => ({
    ...current,
    services: current.services.map(change),
  });
  test.each<[string, ProjectTree, CurrentObjects, readonly string[]]>([
    ['nothing changed', one, current, []],
    [
      'a member came',
      tree(balancer({}, member('10.0.0.1'), member('10.0.0.2'))),
      current,
      ['update EndpointSlice'],
    ],
    [
      'a member is not ready',
      tree(balancer({}, member('10.0.0.1', { weight: 0 }))),
      current,
      ['update EndpointSlice'],
    ],
    [
      'the name changed',
      tree(balancer({ name: 'shop' }, member('10.0.0.1'))),
      current,
      ['create Service', 'create EndpointSlice', 'delete Service', 'delete EndpointSlice'],
    ],
    [
      'a foreign port',
      one,
      edited((service) => ({
        ...service,
        spec: { ...service.spec, ports: [...(service.spec?.ports ?? []), { port: 9 }] },
      })),
      ['update Service'],
    ],
    [
      'a foreign selector',
      one,
      edited((service) => ({ ...service, spec: { ...service.spec, selector: { app: 'x' } } })),
      ['update Service'],
    ],
    [
      'a foreign external address',
      one,
      edited((service) => ({ ...service, spec: { ...service.spec, externalIPs: ['192.0.2.1'] } })),
      ['update Service'],
    ],
    [
      'a foreign label under our prefix',
      one,
      edited((service) => ({
        ...service,
        metadata: {
          ...service.metadata,
          labels: { ...service.metadata?.labels, 'causeway.dev/mine': 'x' },
        },
      })),
      ['update Service'],
    ],
    [
      'a label of others',
      one,
      edited((service) => ({
        ...service,
        metadata: { ...service.metadata, labels: { ...service.metadata?.labels, team: 'x' } },
      })),
      [],
    ],
    [
      'a Service that is being deleted',
      one,
      edited((service) => ({
        ...service,
        metadata: { ...service.metadata, deletionTimestamp: 'now' },
        spec: {},
      })),
      [],
    ],
    ['a Service that is missing', one, { ...current, services: [] }, ['create Service']],
  ])('%s', (_, wanted, have, expected) => {
    expect(verbs(plan(wanted, have))).toEqual(expected);
  });

  test('keeps the labels of others in an update', () => {
    const have = edited((service) => ({
      ...service,
      metadata: { ...service.metadata, labels: { ...service.metadata?.labels, team: 'x' } },
      spec: { ...service.spec, selector: { app: 'x' } },
    }));
    const [service] = after(plan(one, have), have).services;
    expect(service?.metadata?.labels?.['team']).toBe('x');
    expect(service?.spec?.selector).toBeUndefined();
  });

  test('recreates the Service for another type; its endpoints stay', () => {
    expect(verbs(plan(one, current, { serviceType: 'ClusterIP' }))).toEqual(['replace Service']);
  });

  test('replaces the endpoints by another kind', () => {
    const changes = { endpointsKind: 'Endpoints' } as const;
    const plans = plan(one, current, changes);
    expect(verbs(plans)).toEqual(['create Endpoints', 'delete EndpointSlice']);
    expect(plans.map(({ loss }) => loss)).toEqual([undefined]);
    expect(verbs(plan(one, after(plans, current), changes))).toEqual([]);
  });

  test('changes one slice for one more member among hundreds', () => {
    const many = Array.from({ length: 250 }, (_, index) =>
      member(`10.0.${index >> 7}.${(index % 128) + 2}`),
    );
    const first = after(plan(tree(balancer({}, ...many))));
    expect(first.slices.map((slice) => slice.endpoints?.length)).toEqual([100, 100, 50]);
    const more = plan(tree(balancer({}, member('10.0.0.1'), ...many)), first);
    expect(verbs(more)).toEqual(['update EndpointSlice']);
    const fewer = plan(tree(balancer({}, ...many.slice(1))), first);
    expect(verbs(fewer)).toEqual(['update EndpointSlice']);
    const back = plan(tree(balancer({}, ...many)), after(fewer, first));
    expect(verbs(back)).toEqual(['update EndpointSlice']);
  });
});

describe('losses', () => {
  test.each<[string, ProjectTree, string | undefined]>([
    ['the load balancer', tree(), 'load-balancer'],
    ['its listeners', tree(balancer({ listeners: [] })), 'all of TCP/80'],
    ['its members', tree(balancer({})), 'endpoints of TCP/80'],
    ['nothing', one, undefined],
    ['readiness alone', tree(balancer({ adminStateUp: false }, member('10.0.0.1'))), undefined],
  ])('%s', (_, wanted, loss) => {
    expect(plan(wanted, current).map((own) => own.loss?.way)).toEqual([loss]);
  });

  test('exclude endpoints that others have added to the Service', () => {
    const foreign = current.slices.map((slice) => ({
      ...slice,
      metadata: {
        ...slice.metadata,
        annotations: {},
        labels: { ...slice.metadata?.labels, 'app.kubernetes.io/managed-by': 'somebody' },
      },
    }));
    const [own] = plan(tree(balancer({})), { ...current, slices: foreign });
    expect(own?.loss).toBeUndefined();
  });

  test.each(['causeway.dev/load-balancer-id', 'causeway.dev/project-id'])(
    'exclude an object with an edited label %s: the plan that needs it corrects it',
    (label) => {
      const edit = <T extends KubeObject>(object: T): T => ({
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata?.labels, [label]: 'x' } },
      });
      const edited = {
        ...current,
        services: current.services.map(edit),
        slices: current.slices.map(edit),
      };
      expect(verbs(plan(one, edited))).toEqual(['create Service', 'create EndpointSlice']);
    },
  );

  test('does not delete a copy of an object under another name', () => {
    const copies = current.services.map((service) => ({
      ...service,
      metadata: { ...service.metadata, name: 'copy' },
    }));
    expect(plan(tree(), { ...nothing, services: copies })).toEqual([]);
  });

  test('makes no ordinary Service without listeners, and gives a reason', () => {
    const [own] = plan(tree(balancer({ listeners: [] })), nothing, { serviceType: 'ClusterIP' });
    expect(own?.writes).toEqual([]);
    expect(own?.problems).toMatchObject([{ reason: 'NoListeners' }]);
  });
});

test('names are valid and unique, and a second cycle writes nothing, for any cloud', () => {
  const anyOptions = fc.record({
    serviceType: fc.constantFrom('Headless', 'ClusterIP'),
    endpointsKind: fc.constantFrom('EndpointSlice', 'Endpoints'),
  });
  fc.assert(
    fc.property(anyTree, anyTree, anyName, anyOptions, (first, second, name, changes) => {
      let have = nothing;
      for (const wanted of [first, second]) {
        const source = { project: { id: 'p1', name }, namespace: 'shop', tree: wanted };
        const own = { ...options, ...changes };
        const plans = planProject(source, have, own);
        have = after(plans, have);
        expect(verbs(planProject(source, have, own))).toEqual([]);
        const keys = have.services.map(keyOf);
        expect(new Set(keys).size).toBe(keys.length);
        for (const { metadata, spec } of have.services) {
          expect(metadata?.name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
          const names = (spec?.ports ?? []).map((port) => port.name);
          expect(new Set(names).size).toBe(names.length);
          for (const one of names) expect(one).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
        }
        pairedByName(have);
      }
    }),
    { numRuns: 200 },
  );
});

/** Kubernetes finds the endpoints of a port by its name. */
function pairedByName({ services, slices }: CurrentObjects): void {
  const ports = new Set(
    services.flatMap(({ metadata, spec }) =>
      (spec?.ports ?? []).map(({ name, protocol }) => `${metadata?.name} ${name} ${protocol}`),
    ),
  );
  for (const { metadata, ports: own } of slices) {
    const service = metadata?.labels?.['kubernetes.io/service-name'];
    for (const { name, protocol } of own ?? []) {
      expect(ports).toContain(`${service} ${name} ${protocol}`);
    }
  }
}
