import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { installCustomResources } from '../../../packages/kubernetes/src/objects/custom-resources.ts';
import {
  defineResource,
  type Resource,
} from '../../../packages/kubernetes/src/objects/resource.ts';
import { leases, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import type { KubeObject } from '../../../packages/kubernetes/src/objects/object.ts';
import { PendingReleases } from '../../../packages/causeway/src/pool/pending-releases.ts';
import { LedgerCheck } from '../../../packages/causeway/src/pool/ledger-check.ts';
import { PoolLedger } from '../../../packages/causeway/src/pool/pool-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { never, startServer, type ServerUnderTest } from '../ipam/server-under-test.ts';
import { ClusterUnderTest, named, until } from './cluster-under-test.ts';

interface Anything extends KubeObject {
  readonly status?: object;
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const metalLb = (plural: string, kind: string): Kind => ({
  group: 'metallb.io',
  version: 'v1beta1',
  plural,
  kind,
  namespaced: true,
});
const addressPool = metalLb('ipaddresspools', 'IPAddressPool');
const l2Status = metalLb('servicel2statuses', 'ServiceL2Status');
const bgpStatus = metalLb('servicebgpstatuses', 'ServiceBGPStatus');
const ciliumPool: Kind = {
  group: 'cilium.io',
  version: 'v2',
  plural: 'ciliumloadbalancerippools',
  kind: 'CiliumLoadBalancerIPPool',
  namespaced: false,
};
const serviceGroup: Kind = {
  group: 'purelb.io',
  version: 'v2',
  plural: 'servicegroups',
  kind: 'ServiceGroup',
  namespaced: true,
};

let server: ServerUnderTest;
let cluster: ClusterUnderTest;
let ipam: IpamClient;

beforeEach(async () => {
  server = await startServer();
  const call = server.operator.call.bind(server.operator);
  const times = { quarantineMs: 60_000, unconfirmedQuarantineMs: 600_000 };
  await call('setSite', { params: { site: 'edge' }, body: times }, never);
  const pool = { addresses: ['192.0.2.1-192.0.2.9', '2001:db8::1-2001:db8::9'] };
  await call('setPool', { params: { site: 'edge', pool: 'public' }, body: pool }, never);
  const body = { cluster: 'blue' };
  ipam = server.client(
    (await call('createCluster', { params: { site: 'edge' }, body }, never)).token,
  );
  cluster = await ClusterUnderTest.start();
});

afterEach(async () => {
  await cluster.stop();
  await server.stop();
});

function resourceOf(kind: Kind): Resource<Anything> {
  return defineResource<Anything>(kind);
}

async function install(kinds: readonly Kind[]): Promise<void> {
  const definitions = kinds.map(({ group, version, plural, kind, namespaced }) => ({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? ('Namespaced' as const) : ('Cluster' as const),
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object' as const,
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
        },
      ],
    },
  }));
  const options = { clock: systemClock, signal: never, fieldManager: 'test' };
  await installCustomResources(cluster.client, definitions, options);
}

const holdLease = (namespace: string, name: string, holderIdentity: string) =>
  cluster.client.apply(
    leases,
    { metadata: { namespace, name }, spec: { holderIdentity } },
    { fieldManager: 'announcer', force: true },
  );

interface Row {
  readonly announcer: string;
  readonly annotation: string;
  readonly isSeen: boolean;
  /** Whether it stops only when the Service is deleted. */
  readonly stopsOnlyOnDeletion?: boolean;
  /** Installs this announcer in the cluster. */
  readonly install: () => Promise<unknown>;
  /** State that it writes while it announces, and deletes when it has stopped. */
  readonly show: () => Promise<unknown>;
  readonly hide: () => Promise<unknown>;
}

const shownStatus = { metadata: { ...named('l2-web') } };
const rows: readonly Row[] = [
  {
    announcer: 'metallb',
    annotation: 'metallb.io/loadBalancerIPs',
    isSeen: true,
    install: async () => {
      await install([addressPool, l2Status, bgpStatus]);
      await cluster.client.create(resourceOf(addressPool), { metadata: named('public') });
    },
    show: () =>
      cluster.client.create(resourceOf(l2Status), {
        ...shownStatus,
        status: { node: 'n1', serviceName: 'web', serviceNamespace: 'default' },
      }),
    hide: () => cluster.client.delete(resourceOf(l2Status), named('l2-web')),
  },
  {
    announcer: 'kube-vip',
    annotation: 'kube-vip.io/loadbalancerIPs',
    isSeen: true,
    stopsOnlyOnDeletion: true,
    install: () => holdLease('kube-system', 'plndr-svcs-lock', 'n1'),
    show: () => holdLease('default', 'kubevip-web', 'n1'),
    hide: () => holdLease('default', 'kubevip-web', ''),
  },
  {
    announcer: 'cilium',
    annotation: 'lbipam.cilium.io/ips',
    isSeen: true,
    install: async () => {
      await install([ciliumPool]);
      await cluster.client.create(resourceOf(ciliumPool), { metadata: { name: 'public' } });
    },
    show: () => holdLease('kube-system', 'cilium-l2announce-default-web', 'n1'),
    hide: () =>
      cluster.client.delete(leases, {
        namespace: 'kube-system',
        name: 'cilium-l2announce-default-web',
      }),
  },
  {
    announcer: 'purelb',
    annotation: 'purelb.io/addresses',
    isSeen: false,
    install: async () => {
      await install([serviceGroup]);
      await cluster.client.create(resourceOf(serviceGroup), { metadata: named('public') });
    },
    show: () => Promise.resolve(),
    hide: () => Promise.resolve(),
  },
];

async function stateOf(address: string) {
  return server.operator.call('whoHas', { params: { site: 'edge', address } }, never);
}

describe.each(rows)('$announcer', (row) => {
  test('is found, gets addresses of both families, is waited for, and is seen to stop if that is visible', async () => {
    await row.install();
    cluster.startController({ ipam });
    await cluster.create('web', { spec: { ipFamilyPolicy: 'RequireDualStack' } });
    let addresses: string[] = [];
    await until(async () => {
      addresses = ((await cluster.annotation('web', row.annotation)) ?? '').split(',');
      expect(addresses).toHaveLength(2);
    });
    expect(addresses[0]).toMatch(/^192\.0\.2\.\d$/);
    expect(addresses[1]).toMatch(/^2001:db8::\d$/);
    await row.show();
    await cluster.announce('web', addresses);
    await until(async () =>
      expect((await cluster.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
    );
    await cluster.client.delete(services, named('web'));
    const [address = ''] = addresses;
    if (row.stopsOnlyOnDeletion === true) {
      // The Service is deleted at once, because only that stops the announcer, and the address stays reserved
      // until then.
      await until(async () => expect(await cluster.read('web')).toBeUndefined());
    } else if (row.isSeen) {
      await until(async () => expect((await cluster.read('web'))?.spec?.type).toBe('NodePort'));
      await until(async () =>
        expect(await cluster.annotation('web', row.annotation)).toBeUndefined(),
      );
    }
    if (row.isSeen) {
      expect(await stateOf(address)).toMatchObject({ state: 'held' });
      await row.hide();
    }
    await until(async () => expect(await cluster.read('web')).toBeUndefined());
    let end = 0;
    await until(async () => {
      const answer = await stateOf(address);
      expect(answer.state).toBe('resting');
      end = answer.until ?? 0;
    });
    const rest = end - Date.now();
    if (row.isSeen) expect(rest).toBeLessThanOrEqual(60_000);
    else expect(rest).toBeGreaterThan(500_000);
  });
});

test('an announcer that keeps announcing keeps the address, not the Service', async () => {
  await install([addressPool, l2Status, bgpStatus]);
  await rows[0]?.show();
  cluster.startController({ ipam, announcer: 'metallb', withdrawalMs: 100 });
  await cluster.create('web');
  let address = '';
  await until(async () => {
    address = (await cluster.annotation('web', 'metallb.io/loadBalancerIPs')) ?? '';
    expect(address).not.toBe('');
  });
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
  expect(await stateOf(address)).toMatchObject({ state: 'held' });
  // It is tracked: it is not a leak.
  const releases = new PendingReleases(cluster.client, 'kube-system');
  const ledger = new PoolLedger(ipam, { site: 'edge', cluster: 'blue' });
  const check = new LedgerCheck(cluster.client, ledger, releases);
  expect((await check.findings(never)).findings).toMatchObject([
    { kind: 'releasing', service: 'default/web', addresses: [address] },
  ]);
  await rows[0]?.hide();
  await until(async () => expect((await stateOf(address)).state).toBe('resting'));
  expect(((await stateOf(address)).until ?? 0) - Date.now()).toBeLessThanOrEqual(60_000);
});

test('an address that could not be withdrawn is not promised to be', async () => {
  cluster.startController({ ipam, announcer: 'kube-vip', selfWithdrawal: true });
  await cluster.create('web');
  await until(() => expect(cluster.events.join('\n')).toContain('CannotWithdraw: kube-vip'));
  expect(await cluster.annotation('web', 'kube-vip.io/loadbalancerIPs')).toBeUndefined();
});

test('two announcers, or none, require a setting', async () => {
  cluster.startController({ ipam });
  await cluster.create('none');
  await until(() => expect(cluster.events.join('\n')).toContain('No announcer was found'));
  for (const { announcer, install: installIt } of rows) {
    if (announcer === 'metallb' || announcer === 'purelb') await installIt();
  }
  await cluster.create('several');
  await until(() =>
    expect(cluster.events.join('\n')).toContain(
      'Several announcers are in this cluster (metallb, purelb)',
    ),
  );
});
