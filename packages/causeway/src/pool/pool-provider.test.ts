import { beforeEach, expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { ProviderContext } from '../services/provider.ts';
import { Refusal } from '../ipam/refusal.ts';
import { holdingAnnotation } from './annotations.ts';
import { formatHolding, readHolding } from './holding.ts';
import { parseAddress } from '@causeway/base/address/address';
import type { Contact } from './contact.ts';
import type { Demand, PoolLedger } from './pool-ledger.ts';
import { PoolProvider, type PoolProviderOptions } from './pool-provider.ts';

const address = parseAddress('192.0.2.1');
const ports = [{ port: 80, protocol: 'TCP' }] as const;

let service: Service;
let contact: { isWithdrawn: boolean };
let ledger: { ensure: (uid: string, demand: Demand) => Promise<unknown> };
let events: string[];
let reservations: { uid: string; addresses: string[] }[];
let provider: PoolProvider;
let clock: SimulatedClock;

const context = {
  signal: new AbortController().signal,
  log: discardLog,
  recordEvent: (reason: string, message: string) => events.push(`${reason}: ${message}`),
  annotate: (annotations: Record<string, string | null>) => {
    const { metadata } = service;
    const merged = { ...metadata?.annotations, ...annotations } as Record<string, string>;
    service = { ...service, metadata: { ...metadata, annotations: merged } };
    return Promise.resolve();
  },
} as unknown as ProviderContext;

beforeEach(() => {
  events = [];
  const holding = {
    uid: 'u',
    addresses: [{ address }],
    fencingToken: 7,
    announcer: 'plain',
  } as const;
  service = {
    metadata: {
      namespace: 'default',
      name: 'web',
      uid: 'u',
      annotations: { [holdingAnnotation]: formatHolding(holding) },
    },
    spec: { type: 'LoadBalancer', ports: [...ports], ipFamilies: ['IPv4'] },
  };
  contact = { isWithdrawn: false };
  reservations = [{ uid: 'u', addresses: [address] }];
  const grant = { addresses: [{ address }], fencingToken: 7 };
  ledger = { ensure: () => Promise.resolve(grant) };
  clock = new SimulatedClock();
  provider = makeProvider();
});

function makeProvider(selfWithdrawal = true): PoolProvider {
  return new PoolProvider({
    announcer: 'plain',
    classes: [],
    selfWithdrawal,
    clock,
    contact: contact as unknown as Contact,
    ledger: {
      ensure: (uid: string, demand: Demand) => ledger.ensure(uid, demand),
      reservations: () => Promise.resolve(reservations),
    } as unknown as PoolLedger,
  } as unknown as PoolProviderOptions);
}

test('shows the address of a withdrawn plain Service again only after the ledger has confirmed it', async () => {
  const shown = { ingress: [{ ip: address }] };
  expect(await provider.ensure(service, context)).toMatchObject(shown);
  contact.isWithdrawn = true;
  expect(await provider.ensure(service, context)).toMatchObject({ kind: 'pending', ingress: [] });
  expect(readHolding(service)?.stoppedAt).toBeDefined();
  expect(events.join()).toContain('Withdrawn: ');

  contact.isWithdrawn = false;
  const { ensure } = ledger;
  ledger.ensure = () => Promise.reject(new CausewayError('unavailable', 'too many requests'));
  expect(await provider.ensure(service, context)).toMatchObject({ kind: 'pending', ingress: [] });

  ledger.ensure = ensure;
  expect(await provider.ensure(service, context)).toMatchObject({ kind: 'ready', ...shown });
  expect(readHolding(service)?.stoppedAt).toBeUndefined();
});

test.each(['address-outside', 'pool-exhausted', 'quota'] as const)(
  'after a rejection for %s, keeps only the addresses that the ledger still has for the Service',
  async (reason) => {
    const code = reason === 'address-outside' ? 'invalid' : 'exhausted';
    ledger.ensure = () => Promise.reject(new Refusal(code, reason, 'no'));
    await provider.ensure(service, context).catch(() => undefined);
    expect(readHolding(service)?.addresses).toEqual([{ address }]);
    reservations = [];
    expect(await provider.ensure(service, context)).toMatchObject({ kind: 'pending', ingress: [] });
    expect(readHolding(service)?.addresses).toEqual([]);
  },
);

test('refuses an address that the announcer does not support for the Service', async () => {
  const annotations = { 'causeway.dev/announcer': 'metallb' };
  const spec = { ...service.spec, loadBalancerIP: '198.51.100.9' };
  service = { metadata: { ...service.metadata, annotations }, spec };
  provider = makeProvider(false);
  expect(await provider.ensure(service, context)).toMatchObject({
    kind: 'refused',
    reason: 'NotAnnounced',
  });
});

test.each(['recovering', 'moved'] as const)(
  'keeps the addresses while the ledger is %s',
  async (reason) => {
    reservations = [];
    ledger.ensure = () => Promise.reject(new Refusal('unavailable', reason, 'no'));
    await expect(provider.ensure(service, context)).rejects.toMatchObject({ reason });
    expect(readHolding(service)?.addresses).toEqual([{ address }]);
  },
);

test('writes the next address for kube-vip before any other change, and nothing while there is none', async () => {
  const addressAnnotation = 'kube-vip.io/loadbalancerIPs';
  const holding = {
    uid: 'u',
    addresses: [{ address }],
    fencingToken: 7,
    announcer: 'kube-vip',
  } as const;
  const annotations = { [holdingAnnotation]: formatHolding(holding), [addressAnnotation]: address };
  service = { ...service, metadata: { ...service.metadata, annotations } };
  const before = service;
  const asked: unknown[] = [];
  const next: { grant?: object } = {};
  ledger.ensure = (_uid, { addresses, inUse }) => {
    asked.push([...addresses, inUse]);
    if (addresses.length === 0) return Promise.resolve(next.grant);
    return Promise.reject(new Refusal('conflict', 'address-in-use', 'no'));
  };
  expect(await provider.ensure(service, context)).toMatchObject({ kind: 'pending' });
  expect(asked).toEqual([[address, true], [false]]);
  expect(service).toBe(before);
  expect(events.join()).toContain(`TakenBack: The ledger no longer has ${address}`);

  next.grant = { addresses: [{ address: parseAddress('192.0.2.2') }], fencingToken: 9 };
  await provider.ensure(service, context);
  expect(readHolding(service)).toMatchObject({
    addresses: [{ address: '192.0.2.2' }],
    fencingToken: 9,
  });
  expect(service.metadata?.annotations?.[addressAnnotation]).toBe('192.0.2.2');
  expect(service.spec).toBe(before.spec);
});

test('repeats the announcement to kube-vip with growing intervals and a limit while kube-vip shows another address', async () => {
  const next = parseAddress('192.0.2.2');
  const announcedAddress = () => service.metadata?.annotations?.['kube-vip.io/loadbalancerIPs'];
  const show = (ip: string) => {
    service = { ...service, status: { loadBalancer: { ingress: [{ ip }] } } };
  };
  const holding = {
    uid: 'u',
    addresses: [{ address }],
    fencingToken: 7,
    announcer: 'kube-vip',
  } as const;
  const named = { 'causeway.dev/announcer': 'kube-vip' };
  await context.annotate({ ...named, [holdingAnnotation]: formatHolding(holding) });
  provider = makeProvider(false);
  ledger.ensure = () => Promise.resolve({ addresses: [{ address: next }], fencingToken: 9 });
  // kube-vip has shown nothing yet: it may not be running.
  expect(await provider.ensure(service, context)).not.toHaveProperty('retryAfterMs');
  show(address);
  const writes: string[] = [];
  const waits: number[] = [];
  for (let left = 40; left > 0; left -= 1) {
    const before = service;
    const outcome = await provider.ensure(service, context);
    expect(announcedAddress()).toBe(next);
    expect(outcome.kind).toBe('pending');
    if (readHolding(before)?.reminders !== readHolding(service)?.reminders) {
      writes.push(String(readHolding(service)?.reminders));
      continue;
    }
    if (!('retryAfterMs' in outcome) || outcome.retryAfterMs === undefined) break;
    waits.push(outcome.retryAfterMs);
    await clock.advance(outcome.retryAfterMs);
  }
  expect(writes).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256].map((seconds) => seconds * 1_000));
  show(next);
  const right = service.metadata?.annotations;
  expect(await provider.ensure(service, context)).toMatchObject({ kind: 'ready' });
  expect(service.metadata?.annotations).toEqual(right);
  // Another address starts the intervals again.
  ledger.ensure = () => Promise.resolve({ addresses: [{ address }], fencingToken: 11 });
  provider = makeProvider(false);
  await provider.ensure(service, context);
  expect(readHolding(service)).toMatchObject({ fencingToken: 11, addresses: [{ address }] });
  expect(readHolding(service)?.reminders).toBeUndefined();
});
