import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { discardLog } from '@causeway/base/observability/log';
import { systemClock } from '@causeway/base/time/clock';
import { noMetrics } from '@causeway/base/observability/metrics';
import { idledAt } from '../idling/annotations.ts';
import { ProxyPipeline } from './proxy-pipeline.ts';
import { ProxyProgress } from './proxy-progress.ts';
import { ProxyStore } from './proxy-store.ts';
import type { ServedService } from './served-service.ts';
import { makeService, makeSlice } from './testing/objects.ts';
import { StoreWriter } from './testing/store-writer.ts';

const settings = {
  table: 'causeway-proxy',
  hashSeed: 7,
  localSources: [],
  hairpin: true,
  resumeConnections: false,
  insiders: { networks: [prefix('10.1.0.0/16')], interfaces: [] },
};
const node = {
  name: 'node1',
  zone: undefined,
  addresses: [],
  nodePortAddresses: [],
  masqueradeAll: false,
  knowsInsiders: true,
};

const marked = makeService({
  metadata: { ...makeService().metadata, annotations: { [idledAt]: 'now' } },
});

/** Starts a proxy on an in-memory kernel, and returns a function that waits for its next transaction. */
function start(
  reportLost: (text: string) => void = () => {},
  deleteStaleEntries: () => Promise<number> = () => Promise.resolve(0),
) {
  const driver = new MemoryDriver(settings.table);
  const pace = { minIntervalMs: 0, maxIntervalMs: 60_000 };
  const connections = {
    deleteConnections: () => Promise.resolve(0),
    deleteStaleEntries,
  };
  const store = new ProxyStore({ node, clock: systemClock, log: discardLog });
  const objects = new StoreWriter(store);
  const pipeline = new ProxyPipeline({
    store,
    driver,
    connections,
    layout: settings,
    pace,
    progress: new ProxyProgress(systemClock, noMetrics),
    idling: { graceMs: 60_000, logGroup: 9, listen: () => Promise.resolve(undefined) },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    reportLost: ({ metadata }, lost) =>
      reportLost(
        [
          metadata?.name,
          ...lost.map(({ target, owner }) => `${target.virtual.address} ${owner}`),
        ].join(' '),
      ),
  });
  const stop = new AbortController();
  const committed = () =>
    new Promise<readonly ServedService[]>((resolve) => {
      const end = pipeline.onCommit((served) => {
        end();
        resolve(served);
      });
    });
  const running = pipeline.run(stop.signal);
  const connect = (destination: string, destinationPort: number) =>
    driver.trace(
      {
        source: address('10.1.0.9'),
        destination: address(destination),
        protocol: 6,
        sourcePort: 40_000,
        destinationPort,
      },
      { from: 'network', localAddresses: [] },
    );
  const end = async () => {
    stop.abort();
    await running;
  };
  return { driver, store, objects, pipeline, committed, connect, end };
}

describe('ProxyPipeline', () => {
  it('notifies of a change at once, while stale conntrack entries of another are being deleted', async () => {
    const deleted = Promise.withResolvers<number>();
    const { objects, committed, connect, end } = start(undefined, () => deleted.promise);
    const udp = { ports: [{ port: 80, protocol: 'UDP' as const }] };
    objects.setService(makeService({ spec: udp }));
    const first = committed();
    objects.synced();
    await first;
    const second = committed();
    const metadata = { namespace: 'shop', name: 'other' };
    objects.setService(makeService({ metadata, spec: { clusterIP: '10.96.0.2' } }));
    objects.setSlice(makeSlice({ service: 'other', addresses: ['10.1.0.2'] }));
    expect((await second).map(({ service }) => service)).toContain('shop/other');
    expect(connect('10.96.0.2', 80).packet).toMatchObject({ destination: '10.1.0.2' });
    deleted.resolve(0);
    await end();
  });

  it('notifies of a woken Service after stale conntrack entries are deleted', async () => {
    const deletions: PromiseWithResolvers<number>[] = [];
    const { objects, pipeline, end } = start(undefined, () => {
      const deletion = Promise.withResolvers<number>();
      deletions.push(deletion);
      return deletion.promise;
    });
    const reported: string[] = [];
    pipeline.onCommit((served) => {
      for (const { diversion } of served) reported.push(diversion?.kind ?? 'serve');
    });
    const ports = [{ port: 80, protocol: 'UDP' as const }];
    objects.setService({ ...marked, spec: { ...marked.spec, ports } });
    objects.synced();
    await vi.waitFor(() => expect(deletions).toHaveLength(1));
    deletions[0]?.resolve(0);
    objects.setSlice(
      makeSlice({ addresses: ['10.1.0.1'], ports: [{ port: 8080, protocol: 'UDP' }] }),
    );
    await vi.waitFor(() => expect(deletions).toHaveLength(2));
    expect(reported).toEqual(['park']);
    deletions[1]?.resolve(0);
    await vi.waitFor(() => expect(reported).toEqual(['park', 'serve']));
    await end();
  });

  it('writes nothing before it is synced, then everything at once', async () => {
    const { driver, objects, committed, connect, end } = start();
    objects.setService(makeService());
    objects.setSlice(makeSlice({ addresses: ['10.1.0.1'] }));
    await Promise.resolve();
    expect(await driver.read()).toBeUndefined();
    const first = committed();
    objects.synced();
    const [served] = await first;
    expect(served).toMatchObject({ service: 'shop/web', diversion: undefined });
    expect(served?.targets).toMatchObject([{ port: 'TCP/80' }]);
    expect(connect('10.96.0.1', 80).packet).toMatchObject({
      destination: '10.1.0.1',
      destinationPort: 8080,
    });
    await end();
  });

  it('switches between endpoints and a diversion in one transaction', async () => {
    const { objects, committed, connect, end } = start();
    objects.setService(marked);
    let next = committed();
    objects.synced();
    await next;
    expect(connect('10.96.0.1', 80).outcome).toBe('dropped');
    expect(connect('10.96.0.1', 80).steps.map(({ rule }) => rule)).toContain('log group 9');
    next = committed();
    objects.setSlice(makeSlice({ addresses: ['10.1.0.1'] }));
    expect(await next).toMatchObject([{ service: 'shop/web', diversion: undefined }]);
    expect(connect('10.96.0.1', 80).packet.destination).toBe('10.1.0.1');
    await end();
  });

  it('takes over the rules of an earlier process and repairs differences', async () => {
    const { driver, objects, committed, connect, end } = start();
    driver.interfere([{ op: 'add-table' }, { op: 'add-chain', chain: 'stranger' }]);
    objects.setService(makeService());
    const first = committed();
    objects.synced();
    await first;
    expect((await driver.read())?.chains.has('stranger')).toBe(false);
    expect(connect('10.96.0.1', 80).outcome).toBe('rejected');
    await end();
  });

  it('compares all rules after a failed transaction, and then serves the change', async () => {
    const { driver, objects, committed, connect, end } = start();
    let next = committed();
    objects.setService(makeService());
    objects.synced();
    await next;
    // The table is removed, so the next change can't be applied.
    driver.interfere([{ op: 'remove-table' }]);
    next = committed();
    objects.setSlice(makeSlice({ addresses: ['10.1.0.1'] }));
    expect(await next).toMatchObject([{ service: 'shop/web' }]);
    expect(connect('10.96.0.1', 80).packet.destination).toBe('10.1.0.1');
    await end();
  });

  it('notifies of a deleted Service although the transaction of its deletion failed', async () => {
    const { driver, objects, committed, end } = start();
    let next = committed();
    objects.setService(makeService());
    objects.synced();
    await next;
    driver.interfere([{ op: 'remove-table' }]);
    next = committed();
    objects.removeService('shop/web');
    expect(await next).toMatchObject([{ service: 'shop/web', targets: [] }]);
    await end();
  });

  it('notifies of a Service that gets the address of a deleted Service', async () => {
    const { objects, pipeline, committed, end } = start();
    const made = (name: string, creationTimestamp: string, annotations = {}) =>
      makeService({ metadata: { namespace: 'shop', name, creationTimestamp, annotations } });
    objects.setService(made('older', '2026-01-01T00:00:00Z'));
    objects.setService(made('younger', '2026-02-01T00:00:00Z', { [idledAt]: 'now' }));
    const next = committed();
    objects.synced();
    await next;
    const reported: ServedService[] = [];
    pipeline.onCommit((served) => void reported.push(...served));
    objects.removeService('shop/older');
    await expect.poll(() => reported.length, { timeout: 120_000 }).toBe(2);
    expect(reported).toMatchObject([
      { service: 'shop/younger', diversion: { kind: 'park' }, targets: [{ port: 'TCP/80' }] },
      { service: 'shop/older', targets: [] },
    ]);
    await end();
  });

  it('repairs a foreign change of the table after doubt()', async () => {
    const { driver, objects, pipeline, committed, connect, end } = start();
    let next = committed();
    objects.setService(makeService());
    objects.setSlice(makeSlice({ addresses: ['10.1.0.1'] }));
    objects.synced();
    await next;
    driver.interfere([{ op: 'flush-set', set: 'services4' }]);
    expect(connect('10.96.0.1', 80).outcome).toBe('dropped');
    next = committed();
    pipeline.doubt();
    await next;
    expect(connect('10.96.0.1', 80).packet.destination).toBe('10.1.0.1');
    await end();
  });

  it('applies a change of the node', async () => {
    const { store, objects, committed, connect, end } = start();
    const spec = { type: 'NodePort' as const, ports: [{ port: 80, nodePort: 30_080 }] };
    objects.setService(makeService({ spec }));
    objects.setSlice(makeSlice({ addresses: ['10.1.0.1'] }));
    let next = committed();
    objects.synced();
    await next;
    expect(connect('192.168.1.10', 30_080).packet.destination).toBe('192.168.1.10');
    next = committed();
    store.node = { ...node, nodePortAddresses: [address('192.168.1.10')] };
    await next;
    expect(connect('192.168.1.10', 30_080).packet.destination).toBe('10.1.0.1');
    await end();
  });

  it('ends with the same rules in any order of changes', async () => {
    const steps: ((objects: StoreWriter) => void)[] = [
      (objects) => objects.setService(makeService()),
      (objects) => objects.setService(makeService({ spec: { ports: [{ port: 81 }] } })),
      (objects) => objects.setSlice(makeSlice({ name: 'a', addresses: ['10.1.0.1'] })),
      (objects) => objects.setSlice(makeSlice({ name: 'b', addresses: ['10.1.0.2'] })),
      (objects) => objects.setService(marked),
    ];
    const finish = (objects: StoreWriter) => {
      objects.removeSlice('shop/a');
      objects.setService(makeService());
      objects.setSlice(makeSlice({ name: 'b', addresses: ['10.1.0.2', '10.1.0.3'] }));
    };
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(steps), async (order) => {
        const { driver, objects, committed, end } = start();
        const next = committed();
        objects.synced();
        await next;
        for (const step of order) {
          step(objects);
          await Promise.resolve();
        }
        finish(objects);
        const keys = async (set: string) => [
          ...((await driver.read())?.sets.get(set)?.elements.keys() ?? []),
        ];
        await expect.poll(() => keys('slots4')).toHaveLength(8);
        await expect.poll(() => keys('services4')).toEqual(['10.96.0.1 . 6 . 80']);
        await end();
      }),
      { numRuns: 20 },
    );
  });

  it('gives an address that two Services request to the older one, and to the other after its deletion', async () => {
    const reported: string[] = [];
    const { objects, committed, connect, end } = start((text) => reported.push(text));
    const shared = { spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }] } };
    const made = (name: string, creationTimestamp: string) =>
      makeService({ ...shared, metadata: { namespace: 'shop', name, creationTimestamp } });
    objects.setService(made('younger', '2026-02-01T00:00:00Z'));
    objects.setService(made('older', '2026-01-01T00:00:00Z'));
    const younger = 'younger 10.96.0.9 shop/older';
    objects.setSlice(makeSlice({ service: 'younger', addresses: ['10.1.0.1'] }));
    objects.setSlice(makeSlice({ service: 'older', addresses: ['10.1.0.2'] }));
    let next = committed();
    objects.synced();
    await next;
    expect(connect('10.96.0.9', 80).packet.destination).toBe('10.1.0.2');
    expect(reported).toEqual([younger]);
    next = committed();
    objects.setService(made('younger', '2026-02-01T00:00:00Z'));
    objects.removeService('shop/older');
    await next;
    expect(connect('10.96.0.9', 80).packet.destination).toBe('10.1.0.1');
    expect(reported).toEqual([younger]);
    next = committed();
    // The younger Service loses the address because of this change alone.
    objects.setService(made('older', '2026-01-01T00:00:00Z'));
    await next;
    expect(reported).toEqual([younger, younger]);
    await end();
  });
});
