import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { never, startServer, type ServerUnderTest } from '../ipam/server-under-test.ts';
import { ClusterUnderTest, named, until } from './cluster-under-test.ts';

let server: ServerUnderTest;
let cluster: ClusterUnderTest;

beforeAll(async () => {
  server = await startServer();
  const call = server.operator.call.bind(server.operator);
  const site = { params: { site: 'edge' } };
  await call('setSite', { ...site, body: {} }, never);
  const pool = { addresses: ['192.0.2.1-192.0.2.9', '2001:db8::1-2001:db8::9'] };
  await call('setPool', { params: { site: 'edge', pool: 'public' }, body: pool }, never);
  const { token } = await call('createCluster', { ...site, body: { cluster: 'blue' } }, never);
  const ipam: IpamClient = server.client(token);
  cluster = await ClusterUnderTest.start();
  cluster.startController({ ipam });
});

afterAll(async () => {
  await cluster.stop();
  await server.stop();
});

interface EventCase {
  readonly reason: string;
  /** A part of the message. */
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Service['spec'];
}

const announcedBy = (announcer: string) => ({ 'causeway.dev/announcer': announcer });

const cases: readonly EventCase[] = [
  { reason: 'NoAnnouncer', message: 'No announcer was found in this cluster.' },
  {
    reason: 'UnknownAnnouncer',
    message: 'causeway.dev/announcer has the unknown value "bird"',
    annotations: announcedBy('bird'),
  },
  {
    reason: 'InvalidPoolLabels',
    message: 'The annotation causeway.dev/address-pool-labels: ',
    annotations: { ...announcedBy('plain'), 'causeway.dev/address-pool-labels': 'gold' },
  },
  {
    reason: 'NotAnnounced',
    message: 'MetalLB uses only spec.loadBalancerIP (192.0.2.5)',
    annotations: announcedBy('metallb'),
    spec: { ipFamilyPolicy: 'RequireDualStack', loadBalancerIP: '192.0.2.5' },
  },
  {
    reason: 'ForeignClass',
    message: 'MetalLB does not serve the class causeway.dev/pool.',
    annotations: announcedBy('metallb'),
    spec: { loadBalancerClass: 'causeway.dev/pool' },
  },
  {
    reason: 'AddressRefused',
    message: '203.0.113.9',
    annotations: { ...announcedBy('plain'), 'causeway.dev/address': '203.0.113.9' },
  },
];

test.each(cases)(
  '$reason is recorded',
  async ({ reason, message, annotations = {}, spec = {} }) => {
    await cluster.create(reason.toLowerCase(), { metadata: { annotations }, spec });
    await untilRecorded(reason, message);
  },
);

test('AddressDiffers is recorded if the ledger has a reservation that the Service does not know', async () => {
  // As after the end of a controller between the reservation and its record on the Service.
  const { metadata } = await cluster.create('differs', { spec: { type: 'ClusterIP' } });
  const params = { site: 'edge', cluster: 'blue' };
  const body = { uid: metadata?.uid ?? '', addresses: ['192.0.2.7'] };
  await server.operator.call('reserve', { params, body }, never);
  const annotations = { ...announcedBy('plain'), 'causeway.dev/address': '192.0.2.8' };
  const change = { metadata: { annotations }, spec: { type: 'LoadBalancer' } };
  await cluster.client.patchMerge(services, named('differs'), change);
  await untilRecorded('AddressDiffers', 'this owner already has 192.0.2.7');
});

async function untilRecorded(reason: string, message: string): Promise<void> {
  const start = `Warning ${reason}: `;
  await until(() => {
    const recorded = cluster.events.filter((event) => event.startsWith(start));
    expect(recorded.join('\n')).toContain(message);
  });
}
