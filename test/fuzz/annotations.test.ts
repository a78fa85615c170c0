import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tryParseAddress, parseAddress } from '../../packages/base/src/address/address.ts';
import { parseDuration } from '../../packages/base/src/time/duration.ts';
import { CausewayError } from '../../packages/base/src/error/causeway-error.ts';
import { withoutLeadingZeros } from '../../packages/base/src/address/leading-zeros.ts';
import { parseProtocol } from '../../packages/base/src/address/port.ts';
import { parseInterface, parsePrefix } from '../../packages/base/src/address/prefix.ts';
import { findVersion } from '../../packages/causeway/src/console/doctor/version.ts';
import { parsePoolLabels } from '../../packages/causeway/src/ipam/pool-labels.ts';
import { formatReport, parseReport } from '../../packages/causeway/src/idling/activity-report.ts';
import {
  formatTargets,
  idledAtTime,
  parseTargets,
} from '../../packages/causeway/src/idling/annotations.ts';
import type { Service, ServiceSpec } from '../../packages/kubernetes/src/objects/core-objects.ts';
import type {
  EndpointSlice,
  NetworkPolicy,
} from '../../packages/kubernetes/src/objects/network-objects.ts';
import { objectPath } from '../../packages/kubernetes/src/objects/resource.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import {
  readPlace,
  readPortIds,
} from '../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import { backendsOf } from '../../packages/causeway/src/gateway/controller/backends.ts';
import { readGatewayConfigMap } from '../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import { policyFrom } from '../../packages/causeway/src/gateway/controller/policies/policy-rules.ts';
import { readLoadBalancerSpec } from '../../packages/causeway/src/services/load-balancer-spec.ts';
import { translate } from '../../packages/causeway/src/octavia/klb-spec.ts';
import {
  legacyStateAnnotation,
  readLegacyState,
} from '../../packages/causeway/src/octavia/legacy-state.ts';
import { octaviaSettings } from '../../packages/causeway/src/octavia/settings.ts';
import { readHolding } from '../../packages/causeway/src/pool/holding.ts';
import { readPoolServiceSpec } from '../../packages/causeway/src/pool/service-spec.ts';
import { readRecord } from '../../packages/causeway/src/services/record.ts';
import { eventRow } from '../../packages/causeway/src/console/overview/event-row.ts';
import { explainService } from '../../packages/causeway/src/console/overview/explanation.ts';
import { pathEndpoints } from '../../packages/causeway/src/console/overview/service-path.ts';
import {
  addSlices,
  countSlice,
} from '../../packages/causeway/src/console/overview/service-facts.ts';
import {
  describeService,
  healthOf,
  serviceRow,
} from '../../packages/causeway/src/console/overview/service-row.ts';
import { noProblems } from '../../packages/causeway/src/health/facts.ts';
import { clusterHealth } from '../../packages/causeway/src/health/service-health.ts';
import { parseEgressPolicy } from '../../packages/causeway/src/node-proxy/egress-firewall/egress-rules.ts';
import { resolveName } from '../../packages/causeway/src/node-proxy/egress-firewall/resolve-name.ts';
import { tracedNode } from '../../packages/causeway/src/node-proxy/testing/traced-node.ts';
import { translateService } from '../../packages/causeway/src/node-proxy/translate-service.ts';
import { attempt, attemptAsync, hostileJson, hostileText, nearly, nearlyText } from './hostile.ts';
import { frontendFromService } from '../../packages/causeway/src/services/frontend-from-service.ts';

/** Every annotation that a Service can carry, each with a valid value. */
const annotations: Readonly<Record<string, string>> = {
  'causeway.dev/load-balancer': JSON.stringify({
    version: 1,
    uid: 'u1',
    provider: 'gateway',
    ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }],
  }),
  'causeway.dev/gateway-ports': JSON.stringify({
    version: 1,
    ipv4: '7c1b',
    held: ['80/TCP'],
    sharingGroup: 'namespace:shop',
  }),
  'causeway.dev/pool-holding': JSON.stringify({
    version: 1,
    uid: 'u1',
    announcer: 'kube-vip',
    fencingToken: 3,
    addresses: [{ address: '192.0.2.1' }],
  }),
  'causeway.dev/address': '192.0.2.1',
  'causeway.dev/sharing-key': 'k',
  'causeway.dev/idle-after': '30m',
  'idling.alpha.openshift.io/idled-at': '2026-01-01T00:00:00Z',
  'idling.alpha.openshift.io/unidle-targets': formatTargets([
    { kind: 'Deployment', name: 'web', group: 'apps', replicas: 3 },
  ]),
  'loadbalancer.openstack.org/timeout-client-data': '50000',
  'openstack.org/kuryr-lbaas-state': '{}',
};

const spec: ServiceSpec = {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.7',
  clusterIPs: ['10.96.0.7'],
  ports: [{ name: 'http', port: 80, nodePort: 30080, protocol: 'TCP', targetPort: 'http' }],
  externalIPs: ['198.51.100.7'],
  loadBalancerSourceRanges: ['198.51.100.0/24'],
};

/** A Service with types that the API server accepts, where every text may be anything. */
const hostileService: fc.Arbitrary<Service> = fc
  .record({
    annotations: fc.array(
      fc.tuple(
        fc.constantFrom(...Object.keys(annotations)),
        fc.nat(),
        fc.oneof(
          hostileText,
          hostileJson.map((value) => JSON.stringify(value) ?? ''),
        ),
      ),
      { maxLength: 4 },
    ),
    texts: fc.dictionary(hostileText, hostileText, { maxKeys: 3 }),
    externalIPs: fc.array(hostileText, { maxLength: 2 }),
    loadBalancerIP: fc.option(hostileText, { nil: undefined }),
    isNormal: fc.boolean(),
    ranges: fc.array(fc.oneof(hostileText, fc.constant('10.0.0.0/8')), { maxLength: 2 }),
    targetPort: fc.oneof(hostileText, fc.integer({ min: 1, max: 65_535 })),
  })
  .map(({ annotations: changed, texts, loadBalancerIP, isNormal, targetPort, ...rest }) => ({
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'u1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: {
        ...texts,
        ...(isNormal ? annotations : {}),
        ...Object.fromEntries(changed.map(([key, , value]) => [key, value])),
      },
    },
    spec: {
      ...spec,
      externalIPs: rest.externalIPs,
      loadBalancerSourceRanges: rest.ranges,
      ...(loadBalancerIP === undefined ? {} : { loadBalancerIP }),
      ports: (spec.ports ?? []).map((port) => ({ ...port, targetPort })),
    },
    status: { loadBalancer: { ingress: rest.externalIPs.map((ip) => ({ ip })) } },
  }));

const hostileSlice: fc.Arbitrary<EndpointSlice> = fc
  .array(fc.array(hostileText, { maxLength: 2 }), { maxLength: 3 })
  .map((addresses) => ({
    metadata: { namespace: 'shop', name: 'web-1' },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: addresses.map((list) => ({ addresses: list, nodeName: list[0] ?? 'n1' })),
  }));

describe('a hostile Service', () => {
  test('is parsed or rejected with a message by every provider and by the proxy', () => {
    fc.assert(
      fc.property(hostileService, hostileSlice, (service, slice) => {
        expect(['none', 'record', 'unreadable']).toContain(readRecord(service).kind);
        for (const { address } of readHolding(service)?.addresses ?? []) {
          expect(tryParseAddress(address)).toBe(address);
        }
        readPlace(frontendFromService(service));
        readPortIds(frontendFromService(service));
        idledAtTime(service);
        expect(['needs', 'refused']).toContain(
          readLoadBalancerSpec(frontendFromService(service), [4, 6]).kind,
        );
        const spec = readPoolServiceSpec(service, readHolding(service));
        if (spec.kind === 'spec') {
          for (const each of spec.spec.demand.addresses ?? []) {
            expect(tryParseAddress(each)).toBe(each);
          }
        }
        attempt(() => readLegacyState(service.metadata?.annotations?.[legacyStateAnnotation]));
        attempt(() =>
          translate({
            frontend: frontendFromService(service),
            slices: [slice],
            subnets: new Map([[4, 'subnet']]),
            settings: octaviaSettings.parse({ floatingNetwork: 'public' }),
          }),
        );
        attempt(() =>
          backendsOf({
            spec: frontendFromService(service),
            slices: [slice],
            nodes: new Map(),
            masquerade: 'needed',
            layer: 'Pod',
            routable: new Set([4]),
            addresses: new Map([[4, parseAddress('192.0.2.1')]]),
          }),
        );
        const { targets } = translateService({
          service,
          slices: [slice],
          diversion: undefined,
          node: tracedNode,
        });
        for (const { virtual } of targets) {
          expect(tryParseAddress(virtual.address)).toBe(virtual.address);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('is a row of the dashboard and is explained, with Events of any text', () => {
    const event = fc
      .record({ reason: hostileText, message: hostileText, type: hostileText, at: hostileText })
      .map(({ at, ...rest }) => ({ metadata: { name: 'e' }, lastTimestamp: at, ...rest }));
    const cluster = clusterHealth({
      ...{ now: 0, reportedAt: undefined, gateways: [], unhealthy: noProblems },
      lease: { kind: 'not-read' },
    });
    fc.assert(
      fc.property(hostileService, hostileSlice, fc.array(event), (service, slice, events) => {
        const described = describeService(service);
        const endpoints = addSlices([countSlice(slice)]);
        const health = healthOf(described, endpoints, cluster);
        const row = serviceRow(described, endpoints, health);
        expect(row.key).toBe('shop/web');
        const about = { service, row, health, cluster, events: events.map(eventRow) };
        const { summary, steps } = explainService(about);
        expect(summary).not.toBe('');
        expect(steps.length).toBeGreaterThan(0);
        pathEndpoints([slice]);
      }),
      { numRuns: 300 },
    );
  });

  test("can't scale anything outside of its namespace, nor by more than a scale holds", () => {
    const valid = JSON.stringify([{ kind: 'Deployment', name: 'web', group: 'apps', replicas: 3 }]);
    const text = fc.oneof(
      hostileText,
      nearlyText(valid),
      nearly(JSON.parse(valid)).map((value) => JSON.stringify(value) ?? ''),
    );
    fc.assert(
      fc.property(text, (some) => {
        const parsed = attempt(() => parseTargets(some));
        for (const { name, replicas } of parsed?.ok === true ? parsed.targets : []) {
          expect(replicas).toBeLessThan(2 ** 31);
          const path = attempt(() => objectPath(services, { namespace: 'shop', name }));
          if (path === undefined) continue;
          const resolved = new URL(path, 'https://cluster').pathname;
          expect(resolved.startsWith('/api/v1/namespaces/shop/services/')).toBe(true);
          expect(resolved.split('/')).toHaveLength(7);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a very long text', () => {
  const length = 200_000;
  const texts = [
    ['digits', '1'.repeat(length)],
    ['dots', '1.'.repeat(length / 2)],
    ['zeros', '0'.repeat(length)],
    ['colons', ':'.repeat(length)],
    ['durations', '1h'.repeat(length / 2)],
    ['pairs', 'a=b,'.repeat(length / 4)],
    ['commas', ','.repeat(length)],
    ['spaces', ' '.repeat(length)],
    ['brackets', '['.repeat(length)],
    ['quotes', '"\\'.repeat(length / 2)],
    ['hyphens', '-'.repeat(length)],
    ['slashes', '/'.repeat(length)],
  ] as const;
  const slices: readonly EndpointSlice[] = [];
  const refusedBy = (service: Service) => {
    const needs = readLoadBalancerSpec(frontendFromService(service), [4, 6]);
    const spec = readPoolServiceSpec(service, readHolding(service));
    const translation = attempt(() =>
      translate({
        frontend: frontendFromService(service),
        slices,
        subnets: new Map([[4, 'subnet']]),
        settings: octaviaSettings.parse({ floatingNetwork: 'public' }),
      }),
    );
    const proxy = translateService({ service, slices, diversion: undefined, node: tracedNode });
    return [needs, spec, translation, proxy.excess].map((each) =>
      each !== undefined && 'reason' in each ? each : undefined,
    );
  };

  test.each(texts)('in any parsed annotation is rejected by all of them: %s', (_, text) => {
    for (const name of Object.keys(annotations)) {
      if (name.startsWith('openstack.org/kuryr-lbaas')) continue;
      const service: Service = {
        metadata: { namespace: 'shop', name: 'web', uid: 'u1', annotations: { [name]: text } },
        spec,
      };
      for (const refusal of refusedBy(service)) {
        expect(refusal?.reason, name).toBe('OverBudget');
        expect(refusal?.message.length).toBeLessThan(500);
      }
      attempt(() => readRecord(service));
      readPlace(frontendFromService(service));
      readPortIds(frontendFromService(service));
      idledAtTime(service);
      parseTargets(text);
    }
  });

  test.each(texts)('in the spec is rejected, and is in no message as a whole: %s', (_, text) => {
    for (const changed of [{ loadBalancerSourceRanges: [text] }, { loadBalancerIP: text }]) {
      const service: Service = {
        metadata: { namespace: 'shop', name: 'web', uid: 'u1' },
        spec: { ...spec, ...changed },
      };
      for (const refusal of refusedBy(service)) {
        expect(refusal?.reason).toBe('OverBudget');
        expect(refusal?.message.length).toBeLessThan(500);
      }
    }
  });

  test.each(texts)('is rejected by every parser of a value: %s', (_, text) => {
    for (const parse of [parseDuration, parseAddress, parsePrefix, parseInterface, parseProtocol]) {
      try {
        parse(text);
        expect.unreachable();
      } catch (error) {
        expect(error).toBeInstanceOf(CausewayError);
        expect(String(error).length).toBeLessThan(500);
      }
    }
    withoutLeadingZeros(text);
    attempt(() => parsePoolLabels(text));
    findVersion(text);
  });
});

describe('text that others write into objects', () => {
  test('of a node that reports no activity counts as none', () => {
    const report = formatReport('x', { node: 'n1', quietSeconds: new Map([['a/b', 3]]) }, 1);
    const data = report.data?.['report.json'] ?? '';
    fc.assert(
      fc.property(fc.oneof(hostileText, nearlyText(data)), (text) => {
        const read = attempt(() => parseReport({ data: { 'report.json': text } }));
        for (const seconds of read?.quietSeconds.values() ?? []) {
          expect(seconds).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test('of gateways is parsed as a table of gateways', () => {
    fc.assert(
      fc.property(fc.dictionary(hostileText, hostileText), hostileText, (data, name) => {
        const configMap = attempt(() =>
          readGatewayConfigMap({ data: { ...data, [`state.${name}`]: 'x' } }),
        );
        expect(configMap?.some((gateway) => gateway.name === name)).toBe(true);
      }),
    );
  });

  test('of Kuryr is parsed as its state, or ignored', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.json()), (text) => {
        attempt(() => readLegacyState(text));
      }),
    );
    expect(() => readLegacyState('['.repeat(100_000))).not.toThrow();
    expect(() =>
      readLegacyState('{"versioned_object.data":'.repeat(5000) + '1' + '}'.repeat(5000)),
    ).not.toThrow();
  });
});

describe('a hostile policy', () => {
  test('allows nothing that it does not name', () => {
    const rule = fc.record({
      from: fc.array(
        fc.record({ ipBlock: fc.record({ cidr: hostileText, except: fc.array(hostileText) }) }),
        { minLength: 1, maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 3 }), (ingress) => {
        const policy: NetworkPolicy = {
          metadata: { namespace: 'shop', name: 'web' },
          spec: { podSelector: {}, ingress },
        };
        const problems: string[] = [];
        const read = policyFrom(policy, (problem) => problems.push(problem));
        // A rule with only invalid peers must not become a rule without peers, which allows everything.
        for (const { from } of read.ingress) expect(from?.length).toBeGreaterThan(0);
      }),
    );
  });

  test('for egress denies everything if it is invalid', () => {
    const valid = {
      metadata: { namespace: 'shop', name: 'default' },
      spec: {
        egress: [
          { type: 'Allow', to: { cidrSelector: '192.0.2.0/24' } },
          { type: 'Deny', to: { dnsName: 'example.com' } },
        ],
      },
    };
    const rules = fc.array(
      fc.record({
        type: fc.oneof(fc.constantFrom('Allow', 'Deny'), hostileText),
        to: fc.record({ cidrSelector: hostileText, dnsName: hostileText }, { requiredKeys: [] }),
      }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(rules, (egress) => {
        const read = parseEgressPolicy({ ...valid, spec: { egress } });
        if (read.problem !== undefined) expect(read.rules).toEqual([]);
        else expect(read.rules).toHaveLength(egress.length);
      }),
    );
  });

  test('with a lying DNS gets addresses, or learns that there are none', async () => {
    const answers = fc.array(
      fc.record({ address: hostileText, ttl: fc.oneof(fc.nat(), fc.constant(2 ** 32)) }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(answers, answers, hostileText, async (four, six, name) => {
        const resolver = {
          resolve4: () => Promise.resolve(four),
          resolve6: () => Promise.resolve(six),
          cancel: () => {},
        };
        const { signal } = new AbortController();
        const found = await attemptAsync(() => resolveName(name, signal, resolver));
        for (const each of found?.addresses ?? []) expect(tryParseAddress(each)).toBe(each);
        if (found !== undefined) {
          expect(found.ttlMs).toBeGreaterThanOrEqual(0);
          expect(found.ttlMs).toBeLessThanOrEqual(3_600_000);
        }
      }),
      { numRuns: 200 },
    );
  });
});
