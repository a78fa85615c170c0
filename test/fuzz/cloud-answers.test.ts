import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  serviceMessage,
  serviceErrorType,
  isKeystoneRefusal,
} from '../../packages/openstack/src/error-body.ts';
import { errorCodeOf } from '../../packages/openstack/src/response.ts';
import { Fields } from '../../packages/openstack/src/fields.ts';
import { parseEndpoint } from '../../packages/openstack/src/keystone/endpoint.ts';
import { parseToken } from '../../packages/openstack/src/keystone/token.ts';
import { ListScanner } from '../../packages/openstack/src/list-scanner.ts';
import { parseOctaviaVersions } from '../../packages/openstack/src/load-balancing/octavia.ts';
import * as balancing from '../../packages/openstack/src/load-balancing/parsers.ts';
import * as neutron from '../../packages/openstack/src/neutron/parsers.ts';
import { parseRetryAfter } from '../../packages/openstack/src/retry.ts';
import { item, route } from '../../packages/openstack/src/route.ts';
import { Secret } from '../../packages/openstack/src/secret.ts';
import { parseWatchEvent } from '../../packages/kubernetes/src/cache/watch-event.ts';
import { LineSplitter } from '../../packages/base/src/text/line-splitter.ts';
import { withoutManagedFields } from '../../packages/kubernetes/src/cache/managed-fields.ts';
import {
  portName,
  serviceName,
  labelKey,
  labelValue,
} from '../../packages/causeway/src/discovery/names.ts';
import {
  listenersOf,
  withoutForeignPorts,
} from '../../packages/causeway/src/discovery/service-object.ts';
import { translate } from '../../packages/causeway/src/discovery/translate.ts';
import { parseAddress } from '../../packages/base/src/address/address.ts';
import { parsePort } from '../../packages/base/src/address/port.ts';
import { attempt, hostileJson, hostileText, nearly, nearlyText } from './hostile.ts';

const port = {
  id: 'p1',
  name: 'vip',
  network_id: 'n1',
  project_id: 'x',
  status: 'ACTIVE',
  admin_state_up: true,
  device_id: '',
  device_owner: '',
  mac_address: 'fa:16:3e:00:00:01',
  fixed_ips: [{ subnet_id: 's1', ip_address: '192.0.2.1' }],
  allowed_address_pairs: [{ ip_address: '192.0.2.9' }],
  security_groups: ['g1'],
  tags: ['t'],
  port_security_enabled: true,
};
const balancer = {
  id: 'b1',
  name: 'web',
  vip_address: '192.0.2.1',
  vip_port_id: 'p1',
  vip_subnet_id: 's1',
  provisioning_status: 'ACTIVE',
  operating_status: 'ONLINE',
  admin_state_up: true,
  project_id: 'x',
  provider: 'amphora',
  tags: [],
  listeners: [{ id: 'l1' }],
  pools: [],
  protocol: 'TCP',
  protocol_port: 80,
  default_pool_id: null,
  lb_algorithm: 'ROUND_ROBIN',
  address: '10.0.0.1',
  weight: 1,
  type: 'TCP',
  delay: 1,
  timeout: 1,
  max_retries: 3,
  loadbalancer: { id: 'b1', listeners: [] },
};

/** Every parser of an object; the combination of parser and answer is random, and must not matter. */
const parsers: readonly ((fields: Fields) => unknown)[] = [
  ...Object.values(neutron),
  ...Object.values(balancing),
].filter((each) => typeof each === 'function');

describe("OpenStack's answers", () => {
  test('of any shape are parsed or rejected', () => {
    expect(parsers.length).toBeGreaterThan(12);
    const answers = fc.oneof(hostileJson, nearly(port), nearly(balancer));
    fc.assert(
      fc.property(answers, (answer) => {
        for (const parse of parsers) attempt(() => parse(new Fields(answer, 'object')));
      }),
      { numRuns: 400 },
    );
  });

  test('of Keystone are a token with an expiry, or rejected', () => {
    const valid = {
      token: {
        expires_at: '2026-01-01T01:00:00Z',
        issued_at: '2026-01-01T00:00:00Z',
        catalog: [
          { type: 'network', endpoints: [{ interface: 'public', region: 'a', url: 'https://a' }] },
        ],
        project: { id: 'x' },
        user: { id: 'u' },
      },
    };
    fc.assert(
      fc.property(fc.oneof(hostileJson, nearly(valid)), (body) => {
        const token = attempt(() => parseToken(new Secret('t'), body, 0, undefined));
        if (token !== undefined) {
          expect(Number.isFinite(token.renewAt)).toBe(true);
          expect(token.renewAt).toBeLessThanOrEqual(token.expiresAt);
        }
        attempt(() => parseOctaviaVersions(body));
      }),
      { numRuns: 300 },
    );
  });

  test('with other addresses lead only to http', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.webUrl()), hostileText, (text, id) => {
        const endpoint = attempt(() => parseEndpoint('network', text));
        if (endpoint !== undefined) expect(endpoint.base).toMatch(/^https?:\/\/[^/@]/);
        const path = attempt(() => item(route`/ports`, id).path);
        if (path === undefined) return;
        expect(new URL(path, 'http://neutron').pathname.split('/')).toHaveLength(3);
      }),
      { numRuns: 300 },
    );
  });

  test('that arrive in pieces are the list that JSON would parse, or rejected', () => {
    const valid = JSON.stringify({ ports: [port, { ...port, id: 'p2' }], ports_links: [] });
    const text = fc.oneof(hostileText, nearlyText(valid), fc.constant(valid));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 50 }), (some, size) => {
        const items = attempt(() => {
          const scanner = new ListScanner('ports');
          const found: unknown[] = [];
          const bytes = Buffer.from(some);
          for (let at = 0; at < bytes.length; at += size) {
            found.push(...scanner.push(bytes.subarray(at, at + size)));
          }
          scanner.end();
          return found;
        });
        if (some === valid) expect(items).toHaveLength(2);
      }),
      { numRuns: 400 },
    );
  });

  test('may not grow without end', () => {
    const scanner = new ListScanner('ports');
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    scanner.push(Buffer.from('{"ports":[{"name":"'));
    expect(() => {
      for (let count = 0; count < 20; count += 1) scanner.push(piece);
    }).toThrow('over');
  });

  test('with errors are reported briefly, without the secrets that they repeat', () => {
    const secret = new Secret('hunter2-in-answer');
    const body = fc.oneof(hostileText, fc.json(), nearlyText('{"error":{"message":"no"}}'));
    fc.assert(
      fc.property(body, fc.integer({ min: 100, max: 599 }), (text, status) => {
        const said = serviceMessage(`${text} ${secret.reveal()}`, [secret]);
        expect(said ?? '').not.toContain('hunter2');
        expect((said ?? '').length).toBeLessThan(2_000);
        serviceErrorType(text);
        isKeystoneRefusal(status, text);
        expect(errorCodeOf(status, text)).not.toBe('internal');
        const wait = parseRetryAfter(text, 0);
        if (wait !== undefined) expect(wait).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('names of load balancers', () => {
  const dnsLabel = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

  test('of any text become valid Kubernetes names', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (name, id) => {
        expect(serviceName('backend', name, id)).toMatch(dnsLabel);
        expect(portName(name, 80, 'udp')).toMatch(dnsLabel);
        for (const value of [labelValue(name), labelKey(name)]) {
          expect(value).toMatch(/^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each(['x', '\u0000', '﷽'])('of ten megabytes of %j become valid names, too', (piece) => {
    const name = piece.repeat(10_000_000 / Buffer.byteLength(piece));
    expect(serviceName('backend', name, 'b1')).toMatch(dnsLabel);
    expect(portName(name, 80, '')).toMatch(dnsLabel);
    const { ports } = translate({
      id: 'b1',
      name,
      address: parseAddress('192.0.2.1'),
      adminStateUp: true,
      provisioningStatus: 'ACTIVE',
      operatingStatus: 'ONLINE',
      listeners: [
        {
          id: 'l1',
          name,
          protocol: name,
          port: parsePort(80),
          adminStateUp: true,
          l7PoolIds: [],
          pool: undefined,
        },
      ],
    } as never);
    expect(ports).toEqual([]);
  });

  test('are never resolved to properties of every object', () => {
    const annotations = { 'causeway.dev/listeners': '{"http":{"id":"l1"}}' };
    const service = {
      metadata: { namespace: 'a', name: 'b', annotations },
      spec: { ports: [{ name: 'constructor', port: 1 }] },
    };
    const known = listenersOf(service);
    expect(known).toEqual({ http: { id: 'l1' } });
    expect(withoutForeignPorts(service).spec?.ports).toEqual([]);
  });
});

describe("the API server's streams", () => {
  test('of any lines are events, or end the watch', () => {
    const valid =
      '{"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"x":1}]}}}';
    const lines = fc.oneof(
      hostileText,
      nearlyText(valid),
      hostileJson.map((value) => JSON.stringify(value) ?? ''),
    );
    fc.assert(
      fc.property(lines, (line) => {
        withoutManagedFields(line);
        const event = attempt(() => parseWatchEvent('watch services', line), ['internal']);
        if (event === undefined) return;
        expect(typeof event.object).toBe('object');
        expect(Array.isArray(event.object)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  test('give the same lines wherever they are split', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { maxLength: 6 }), fc.nat({ max: 30 }), (texts, size) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const whole = new LineSplitter().push(bytes);
        const splitter = new LineSplitter();
        const pieces: string[] = [];
        for (let at = 0; at < bytes.length; at += size + 1) {
          pieces.push(...splitter.push(bytes.subarray(at, at + size + 1)));
        }
        expect(pieces).toEqual(whole);
      }),
    );
  });
});
