import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadBalancer, startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { namespaces } from '@causeway/kubernetes/objects/resources';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

interface EventCase {
  readonly reason: string;
  readonly type: 'Warning' | 'Normal';
  /** A part of the message. */
  readonly message: string;
  /** Creates the load balancer `web` in the project `demo`; by default, an ordinary one. */
  readonly prepare?: () => unknown;
  readonly settings?: Readonly<Record<string, unknown>>;
}

const addWeb = (...members: string[]) => world.addLoadBalancer('demo', 'web', ...members);

/** Adds the load balancer with another version of its listener. */
function addListeners(change: (listener: object) => readonly object[]): void {
  const { listeners, ...rest } = loadBalancer(world.cloud, 'web', ['10.10.0.5']);
  const changed = listeners.flatMap(change);
  world.cloud.addLoadBalancer(world.projectId('demo'), { ...rest, listeners: changed });
}

/** Changes the stored listeners. The API of the embedded cloud rejects such values. */
function changeListeners(change: object): void {
  for (const row of world.cloud.octavia.listeners.all()) Object.assign(row, change);
}

/** The embedded cloud has no L7 policies: all its pools name the listeners of such a policy. */
function addL7Pool(): void {
  const { octavia } = world.cloud;
  vi.spyOn(octavia, 'listenersWith').mockReturnValue([...octavia.listeners.all()]);
  for (const row of octavia.pools.all()) octavia.pools.insert({ ...row, id: randomUUID() });
}

const cases: readonly EventCase[] = [
  {
    reason: 'ProtocolUnknown',
    type: 'Warning',
    message: 'on port 80 uses "QUIC", which no Service supports',
    prepare: () => {
      addWeb('10.10.0.5');
      changeListeners({ protocol: 'QUIC' });
    },
  },
  {
    reason: 'PortTakenTwice',
    type: 'Warning',
    message: 'are both on port 80/TCP; discovery skips the second',
    prepare: () => {
      addListeners((listener) => [
        listener,
        { ...listener, protocol_port: 81, default_pool: null },
      ]);
      changeListeners({ protocol_port: 80 });
    },
  },
  {
    reason: 'L7PoolsLeftOut',
    type: 'Normal',
    message: '1 pools are chosen by the content of requests',
    prepare: () => {
      addWeb('10.10.0.5');
      addL7Pool();
    },
  },
  {
    reason: 'ProxyProtocolExpected',
    type: 'Warning',
    message: 'the members behind port 80 expect the PROXY protocol (PROXYV2)',
    prepare: () =>
      addListeners((listener) => {
        const pool = { name: 'pool', protocol: 'PROXYV2', lb_algorithm: 'ROUND_ROBIN' };
        return [{ ...listener, default_pool: pool }];
      }),
  },
  {
    reason: 'AddressRefused',
    type: 'Warning',
    message: 'discovery skips member 10.10.0.5:8080',
    settings: { memberNetworks: ['192.0.2.0/24'] },
  },
  {
    reason: 'NoListeners',
    type: 'Normal',
    message: 'has no listeners, and an ordinary Service needs a port',
    settings: { serviceType: 'ClusterIP' },
    prepare: () => addListeners(() => []),
  },
  {
    reason: 'NamespaceTerminating',
    type: 'Warning',
    message: 'the namespace demo is being deleted; discovery skips its project',
    prepare: async () => {
      addWeb('10.10.0.5');
      await world.client.create(namespaces, { metadata: { name: 'demo' } });
      await world.client.delete(namespaces, { name: 'demo' });
    },
  },
];

test.each(cases)('$reason is recorded', async ({ reason, type, message, prepare, settings }) => {
  await (prepare === undefined ? addWeb('10.10.0.5') : prepare());
  await world.once(settings);
  const recorded = world.events.filter((event) => event.startsWith(`${type} ${reason} `));
  expect(recorded.join('\n')).toContain(message);
});
