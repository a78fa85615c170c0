import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { parsePrefix } from '@causeway/base/address/prefix';
import type { ListenerView, LoadBalancerView, MemberView, PoolView } from './project-tree.ts';
import { translate } from './translate.ts';

const member = (text: string, changes: Partial<MemberView> = {}): MemberView => {
  const at = text.lastIndexOf(':');
  return {
    address: parseAddress(text.slice(0, at)),
    port: parsePort(Number(text.slice(at + 1))),
    weight: 1,
    backup: false,
    adminStateUp: true,
    operatingStatus: 'ONLINE',
    ...changes,
  };
};
const pool = (protocol: string, ...members: MemberView[]): PoolView => ({
  id: 'pool',
  protocol,
  tlsEnabled: false,
  adminStateUp: true,
  members,
});
const listener = (
  protocol: string,
  port: number,
  changes: Partial<ListenerView> = {},
): ListenerView => ({
  id: `${protocol}-${port}`,
  name: '',
  protocol,
  port: parsePort(port),
  adminStateUp: true,
  pool: undefined,
  l7PoolIds: [],
  ...changes,
});
const balancer = (...listeners: ListenerView[]): LoadBalancerView => ({
  id: 'lb',
  name: 'web',
  adminStateUp: true,
  vipAddress: undefined,
  listeners,
});

describe('protocols', () => {
  test.each([
    ['TCP', undefined, 'TCP', undefined],
    ['HTTP', undefined, 'TCP', 'http'],
    ['HTTPS', undefined, 'TCP', 'https'],
    ['TERMINATED_HTTPS', undefined, 'TCP', 'http'],
    ['TERMINATED_HTTPS', 'HTTP', 'TCP', 'http'],
    ['TERMINATED_HTTPS', 'HTTPS', 'TCP', 'https'],
    ['TCP', 'HTTP', 'TCP', 'http'],
    ['TCP', 'TCP', 'TCP', undefined],
    ['HTTPS', 'TCP', 'TCP', 'https'],
    ['HTTPS', 'HTTPS', 'TCP', 'https'],
    ['HTTPS', 'PROXY', 'TCP', undefined],
    ['HTTP', 'PROXY', 'TCP', undefined],
    ['UDP', 'UDP', 'UDP', undefined],
    ['SCTP', 'SCTP', 'SCTP', undefined],
  ])('a %s listener with a %s pool is %s, %s', (spoken, inPool, protocol, appProtocol) => {
    const own = inPool === undefined ? undefined : pool(inPool);
    const { ports } = translate(balancer(listener(spoken, 80, { pool: own })));
    expect(ports).toMatchObject([{ name: 'port-80', protocol, appProtocol }]);
  });

  test.each([
    ['TERMINATED_HTTPS', 'HTTP', 'https'],
    ['HTTP', 'HTTP', 'https'],
    ['TCP', 'TCP', undefined],
    ['TERMINATED_HTTPS', 'PROXY', undefined],
  ])('a %s listener whose %s pool encrypts again is %s', (spoken, inPool, appProtocol) => {
    const own = { ...pool(inPool), tlsEnabled: true };
    const { ports } = translate(balancer(listener(spoken, 80, { pool: own })));
    expect(ports).toMatchObject([{ appProtocol }]);
  });

  test('refuses protocols that no Service supports, and continues with the rest', () => {
    const { ports, problems } = translate(
      balancer(listener('QUIC', 443), listener('PROMETHEUS', 9100), listener('TCP', 80)),
    );
    expect(ports.map(({ port }) => port)).toEqual([80]);
    expect(problems).toMatchObject([{ severity: 'refusal', reason: 'ProtocolUnknown' }]);
  });
});

test('gives TCP and UDP on one port different names, and TCP keeps the plain one', () => {
  const names = (...listeners: ListenerView[]) =>
    translate(balancer(...listeners)).ports.map(({ name, protocol }) => `${name} ${protocol}`);
  const tcp = listener('TCP', 53, { name: 'dns' });
  const udp = listener('UDP', 53, { name: 'dns' });
  expect(names(udp)).toEqual(['dns-53 UDP']);
  expect(names(tcp)).toEqual(['dns-53 TCP']);
  expect(names(udp, tcp)).toEqual(['dns-53 TCP', 'dns-53-udp UDP']);
  const sctp = listener('SCTP', 53, { name: 'dns' });
  expect(names(sctp, udp)).toEqual(['dns-53 UDP', 'dns-53-sctp SCTP']);
});

test('treats two listeners on one port as a contradiction, and keeps the first by id', () => {
  const { ports, problems } = translate(balancer(listener('TCP', 80), listener('HTTP', 80)));
  expect(ports).toMatchObject([{ listener: { id: 'HTTP-80' } }]);
  expect(problems).toMatchObject([{ reason: 'PortTakenTwice' }]);
});

describe('members', () => {
  test('are grouped by port and family, in the order of their addresses', () => {
    const members = [
      member('10.0.0.9:8080'),
      member('2001:db8::1:8080'),
      member('10.0.0.2:9090'),
      member('10.0.0.1:8080', { weight: 0 }),
    ];
    const { ports } = translate(balancer(listener('TCP', 80, { pool: pool('TCP', ...members) })));
    const groups = ports[0]?.groups.map(({ memberPort, family, endpoints }) => [
      memberPort,
      family,
      endpoints.map(({ address, isReady }) => `${address} ${isReady}`),
    ]);
    expect(groups).toEqual([
      [8080, 'IPv4', ['10.0.0.1 false', '10.0.0.9 true']],
      [8080, 'IPv6', ['2001:db8::1 true']],
      [9090, 'IPv4', ['10.0.0.2 true']],
    ]);
  });

  test.each([
    ['load balancer', { adminStateUp: false }, {}, {}],
    ['listener', {}, { adminStateUp: false }, {}],
    ['pool', {}, {}, { adminStateUp: false }],
  ])('of a disabled %s are endpoints, and not ready', (_, onBalancer, onListener, onPool) => {
    const own = { ...pool('TCP', member('10.0.0.1:80')), ...onPool };
    const { ports } = translate({
      ...balancer(listener('TCP', 80, { pool: own, ...onListener })),
      ...onBalancer,
    });
    expect(ports[0]?.groups[0]?.endpoints).toMatchObject([{ address: '10.0.0.1', isReady: false }]);
  });

  test.each([
    '127.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '::1',
    'fe80::1',
    'ff02::1',
    '::ffff:10.0.0.1',
  ])('at %s are refused individually', (address) => {
    const members = [member(`${address}:80`), member('10.0.0.1:80')];
    const { ports, problems } = translate(
      balancer(listener('TCP', 80, { pool: pool('TCP', ...members) })),
    );
    expect(ports[0]?.groups).toMatchObject([{ endpoints: [{ address: '10.0.0.1' }] }]);
    expect(problems).toMatchObject([{ reason: 'AddressRefused' }]);
  });

  test('are accepted only in the allowed networks', () => {
    const members = ['10.0.0.1:80', '10.1.0.1:80', '2001:db8::1:80', '10.0.0.2:80'];
    const own = pool('TCP', ...members.map((text) => member(text)));
    const networks = ['10.0.0.0/16', '192.0.2.0/24'].map((text) => parsePrefix(text));
    const { ports, problems } = translate(balancer(listener('TCP', 80, { pool: own })), networks);
    const addresses = ports[0]?.groups.flatMap(({ endpoints }) =>
      endpoints.map(({ address }) => address),
    );
    expect(addresses).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(problems.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
      expect.stringMatching(/^AddressRefused .* member 10\.1\.0\.1:80 .* memberNetworks/),
      expect.stringMatching(/^AddressRefused .* member 2001:db8::1:80 .* memberNetworks/),
    ]);
  });
});

test('reports features that no Service supports', () => {
  const { l7PoolIds, problems } = translate(
    balancer(listener('HTTP', 80, { l7PoolIds: ['b', 'a'], pool: pool('PROXYV2') })),
  );
  expect(l7PoolIds).toEqual(['a', 'b']);
  expect(problems).toMatchObject([
    { severity: 'warning', reason: 'ProxyProtocolExpected' },
    { severity: 'note', reason: 'L7PoolsLeftOut' },
  ]);
});

test('uses backup members instead of those in networks that are left out', () => {
  const backup = member('10.0.0.2:80', { backup: true });
  const web = balancer(listener('TCP', 80, { pool: pool('TCP', member('10.9.0.1:80'), backup) }));
  const { ports } = translate(web, [parsePrefix('10.0.0.0/24')]);
  expect(ports[0]?.groups).toMatchObject([{ endpoints: [{ address: '10.0.0.2', isReady: true }] }]);
});
