import { beforeEach, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { services } from '@causeway/kubernetes/objects/resources';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { holdingAnnotation } from './annotations.ts';
import { PendingReleases } from './pending-releases.ts';
import { formatHolding, readHolding } from './holding.ts';
import { LedgerCheck } from './ledger-check.ts';
import type { LedgerReservation, PoolLedger } from './pool-ledger.ts';

const { signal } = new AbortController();
const web = { namespace: 'default', name: 'web' };
const address = parseAddress('192.0.2.1');

let client: KubeClient;
let reservations: LedgerReservation[];
let releases: PendingReleases;
let check: LedgerCheck;
/** Runs during the request to the ledger. */
let duringRequest: () => Promise<unknown>;

beforeEach(() => {
  client = memoryKubeClient();
  reservations = [];
  duringRequest = () => Promise.resolve();
  releases = new PendingReleases(client, 'default');
  const ledger = {
    reservations: () => Promise.resolve(reservations),
    stateOf: () => Promise.resolve('outside'),
    ensure: async () => {
      await duringRequest();
      return { addresses: [{ address }], fencingToken: 42 };
    },
  } as unknown as PoolLedger;
  check = new LedgerCheck(client, ledger, releases);
});

async function createHolder(): Promise<void> {
  const ports = [{ port: 80, protocol: 'TCP' as const }];
  const spec = { type: 'LoadBalancer' as const, ports };
  const { metadata } = await client.create(services, { metadata: web, spec }, { signal });
  const uid = metadata?.uid ?? '';
  const holding = { uid, addresses: [{ address }], fencingToken: 7, announcer: 'plain' } as const;
  const annotations = { [holdingAnnotation]: formatHolding(holding) };
  await client.patchMerge(services, web, { metadata: { annotations } }, { signal });
}

const noted = async () => {
  const service = await client.find(services, web, { signal });
  return service === undefined ? undefined : readHolding(service);
};
const repair = async () => {
  const repairs = await check.repair(await check.findings(signal), false, signal);
  return repairs.map(({ finding, outcome }) => `${finding.kind}: ${outcome}`);
};

test('writes the fencing token of a renewed reservation to the Service', async () => {
  await createHolder();
  expect(await repair()).toEqual(['not-in-ledger: held again']);
  expect(await noted()).toMatchObject({
    fencingToken: 42,
    addresses: [{ address }],
    announcer: 'plain',
  });
});

test('reports progress to a listener', async () => {
  await createHolder();
  const progress: string[] = [];
  const listener = {
    begin: (what: string, total: number) => void progress.push(`${what} ${total}`),
    step: (name: string) => void progress.push(name),
  };
  await check.repair(await check.findings(signal, listener), false, signal, listener);
  const checked = ['Checking 2', 'default/kubernetes', 'default/web'];
  expect(progress).toEqual([...checked, 'Repairing 1', 'default/web']);
});

test('keeps a concurrent change of the Service', async () => {
  await createHolder();
  let times = 0;
  duringRequest = async () => {
    times += 1;
    if (times > 1) return;
    const before = await noted();
    if (before === undefined) throw new Error('it holds nothing');
    const annotations = { [holdingAnnotation]: formatHolding({ ...before, stoppedAt: 5 }) };
    await client.patchMerge(services, web, { metadata: { annotations } }, { signal });
  };
  expect(await repair()).toEqual(['not-in-ledger: held again']);
  expect(await noted()).toMatchObject({ fencingToken: 42, stoppedAt: 5 });
});

test('lists pending releases with their addresses, and does not touch them', async () => {
  reservations = [
    { uid: 'gone', purpose: 'load-balancer', ...web, addresses: [address], fencingToken: 3 },
  ];
  const announced = { by: 'kube-vip', ...web, wasSeen: true } as const;
  await releases.add({ uid: 'gone', fencingToken: 3, withdrawn: false, announced }, signal);
  const { findings } = await check.findings(signal);
  expect(findings).toMatchObject([
    { kind: 'releasing', service: 'default/web', addresses: [address] },
  ]);
  expect(findings[0]?.message).toContain('when kube-vip no longer announces');
  expect(await repair()).toEqual(['releasing: not changed']);
});
