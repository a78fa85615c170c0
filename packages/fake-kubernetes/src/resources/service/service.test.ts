import { describe, expect, test } from 'vitest';
import { parsePrefix } from '@causeway/base/address/prefix';
import { seededRandom } from '@causeway/base/simulation/random';
import type { KubeObject } from '../../object.ts';
import { ApiError } from '../../status.ts';
import { ObjectStore } from '../../store.ts';
import { services } from './service.ts';
import { ServiceAllocations } from './service-allocations.ts';
import type { Service, ServiceSpec } from './service-type.ts';

function cluster(...ranges: readonly string[]) {
  const store = new ObjectStore();
  const network = {
    clusterIpRanges: ranges.map(parsePrefix),
    nodePorts: { first: 30_000, last: 30_099 },
  };
  const definition = services(new ServiceAllocations(store, network, seededRandom(1)));
  const refuse = (object: KubeObject, old?: KubeObject) => {
    const causes = definition.validate(object, old);
    if (causes.length === 0) return;
    const list = causes.map(({ field, message }) => `${field}: ${message}`).join('; ');
    throw new ApiError('Invalid', list);
  };
  return {
    create(name: string, spec: ServiceSpec): Service {
      const metadata = {
        name,
        namespace: 'x',
        uid: name,
        resourceVersion: '',
        creationTimestamp: '',
      };
      const draft = structuredClone({ apiVersion: 'v1', kind: 'Service', metadata, spec });
      definition.defaults(draft);
      definition.prepareCreate(draft);
      refuse(draft);
      return store.insert('services', draft) as Service;
    },
    update(old: Service, change: (spec: ServiceSpec) => void): Service {
      const draft = structuredClone(old);
      change(draft.spec);
      definition.defaults(draft);
      definition.prepareUpdate(draft, old);
      refuse(draft, old);
      return store.replace('services', draft) as Service;
    },
    remove: (service: Service) => store.remove('services', service),
  };
}

const single = () => cluster('10.96.0.0/24');
const dual = () => cluster('10.96.0.0/24', 'fd00::/112');
const ports = [{ port: 80 }];

describe('creation', () => {
  test('sets the defaults of a minimal Service', () => {
    const { spec, status } = single().create('a', { ports });
    expect(spec).toEqual({
      type: 'ClusterIP',
      clusterIP: spec.clusterIP,
      clusterIPs: [spec.clusterIP],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      sessionAffinity: 'None',
    });
    expect(spec.clusterIP).toMatch(/^10\.96\.0\.\d+$/);
    expect(status).toEqual({ loadBalancer: {} });
  });

  test('allocates the requested address and node port only once', () => {
    const api = single();
    const wanted = {
      clusterIP: '10.96.0.9',
      type: 'NodePort',
      ports: [{ port: 80, nodePort: 30_005 }],
    };
    expect(api.create('a', wanted).spec.clusterIPs).toEqual(['10.96.0.9']);
    expect(() => api.create('b', { clusterIP: '10.96.0.9', ports })).toThrow(
      'spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated',
    );
    expect(() =>
      api.create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_005 }] }),
    ).toThrow('spec.ports[0].nodePort: Invalid value: 30005: provided port is already allocated');
  });

  test('reuses released addresses and ports', () => {
    const api = single();
    const wanted = {
      clusterIP: '10.96.0.9',
      type: 'NodePort',
      ports: [{ port: 80, nodePort: 30_005 }],
    };
    api.remove(api.create('a', wanted));
    expect(api.create('b', wanted).spec.ports?.[0]?.nodePort).toBe(30_005);
  });

  test('allocates the whole range before it reports that it is full', () => {
    const api = cluster('10.96.0.0/29');
    const addresses = Array.from(
      { length: 6 },
      (_, index) => api.create(`s${index}`, { ports }).spec.clusterIP,
    );
    expect(new Set(addresses).size).toBe(6);
    expect(() => api.create('last', { ports })).toThrow('range 10.96.0.0/29 is full');
  });

  test('gives one node port to both protocols of a port', () => {
    const { spec } = single().create('dns', {
      type: 'NodePort',
      ports: [
        { name: 'udp', port: 53, protocol: 'UDP' },
        { name: 'tcp', port: 53, protocol: 'TCP' },
      ],
    });
    expect(spec.ports?.[0]?.nodePort).toBe(spec.ports?.[1]?.nodePort);
  });

  test.each<readonly [string, ServiceSpec, Partial<ServiceSpec>]>([
    [
      'headless',
      { clusterIP: 'None', selector: { a: 'b' } },
      { clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    ],
    [
      'headless without a selector',
      { clusterIP: 'None' },
      { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
    ],
    [
      'dual stack preferred',
      { ports, ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv4', 'IPv6'] },
    ],
    [
      'one requested family',
      { ports, ipFamilies: ['IPv6'] },
      { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
    ],
    [
      'an address of the second family',
      { ports, clusterIP: 'fd00::9' },
      { ipFamilies: ['IPv6'], clusterIPs: ['fd00::9'] },
    ],
    [
      'a load balancer without node ports',
      { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports },
      { ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
    ],
  ])('sets addresses, families and ports: %s', (_, given, expected) => {
    expect(dual().create('a', given).spec).toMatchObject(expected);
  });

  test('allocates a health check node port for a load balancer with the traffic policy Local', () => {
    const { spec } = single().create('a', {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports,
    });
    expect(spec.healthCheckNodePort).toBeGreaterThanOrEqual(30_000);
    expect(spec.healthCheckNodePort).not.toBe(spec.ports?.[0]?.nodePort);
  });

  test.each<readonly [string, ServiceSpec, string]>([
    ['no ports', {}, 'spec.ports: Required value'],
    [
      'two ports without names',
      { ports: [{ port: 80 }, { port: 81 }] },
      'spec.ports[0].name: Required value; spec.ports[1].name: Required value',
    ],
    [
      'a node port on a ClusterIP',
      { ports: [{ port: 80, nodePort: 30_000 }] },
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ],
    [
      'an unknown type',
      { type: 'Magic', ports },
      'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
    [
      'an ExternalName Service without a name',
      { type: 'ExternalName' },
      'spec.externalName: Required value',
    ],
    [
      'two families on a single-stack cluster',
      { ports, ipFamilyPolicy: 'RequireDualStack' },
      'this cluster is not configured for dual-stack services',
    ],
    [
      'an invalid address',
      { ports, clusterIP: 'x' },
      'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      'an address out of range',
      { ports, clusterIP: '10.97.0.1' },
      'the provided network does not match the current range',
    ],
  ])('rejects %s', (_, given, message) => {
    expect(() => single().create('a', given)).toThrow(message);
  });
});

describe('update', () => {
  test('keeps allocations when the manifest is written again', () => {
    const api = single();
    const old = api.create('a', { type: 'NodePort', ports });
    const next = api.update(old, (spec) => {
      delete spec.clusterIP;
      delete spec.clusterIPs;
      spec.ports = [{ port: 80 }];
    });
    expect(next.spec).toEqual(old.spec);
  });

  test('releases node ports and the reported address when the type changes', () => {
    const api = single();
    const old = api.create('a', { type: 'LoadBalancer', ports });
    old.status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const next = api.update(old, (spec) => {
      spec.type = 'ClusterIP';
    });
    expect(next.spec.ports).toEqual([{ port: 80, protocol: 'TCP', targetPort: 80 }]);
    expect(next.spec).not.toHaveProperty('allocateLoadBalancerNodePorts');
    expect(next.spec).not.toHaveProperty('externalTrafficPolicy');
    expect(next.status).toEqual({ loadBalancer: {} });
    const port = old.spec.ports?.[0]?.nodePort ?? 0;
    const other = api.create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: port }] });
    expect(other.spec.ports?.[0]?.nodePort).toBe(port);
  });

  test('releases addresses on a change to ExternalName and allocates one on the change back', () => {
    const api = single();
    const old = api.create('a', { ports });
    const named = api.update(old, (spec) => {
      spec.type = 'ExternalName';
      spec.externalName = 'example.com';
    });
    expect(named.spec).not.toHaveProperty('clusterIP');
    const back = api.update(named, (spec) => {
      spec.type = 'ClusterIP';
      delete spec.externalName;
    });
    expect(back.spec.clusterIPs).toHaveLength(1);
  });

  test('adds and removes a second family', () => {
    const api = dual();
    const one = api.create('a', { ports });
    const two = api.update(one, (spec) => {
      spec.ipFamilyPolicy = 'RequireDualStack';
    });
    expect(two.spec.clusterIPs?.[0]).toBe(one.spec.clusterIP);
    expect(two.spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(two.spec.clusterIPs?.[1]).toMatch(/^fd00::/);
    const again = api.update(two, (spec) => {
      spec.ipFamilyPolicy = 'SingleStack';
    });
    expect(again.spec.clusterIPs).toEqual(one.spec.clusterIPs);
    expect(again.spec.ipFamilies).toEqual(['IPv4']);
  });

  test('rejects a change of the address and of the class', () => {
    const api = single();
    const old = api.create('a', { type: 'LoadBalancer', loadBalancerClass: 'a.b/c', ports });
    expect(() =>
      api.update(old, (spec) => {
        spec.clusterIP = '10.96.0.77';
        spec.clusterIPs = ['10.96.0.77'];
      }),
    ).toThrow('spec.clusterIPs[0]: Invalid value: ["10.96.0.77"]: may not change once set');
    expect(() =>
      api.update(old, (spec) => {
        spec.loadBalancerClass = 'a.b/d';
      }),
    ).toThrow('spec.loadBalancerClass: Invalid value: "a.b/d": may not change once set');
  });
});
