import net from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort, type Port } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { listen } from '@causeway/base/network/listen';
import type { Dispatch } from '@causeway/nftables/compile/virtual-service';
import type { Diversion, ServedTarget } from '../served-service.ts';
import { AcceptingHolder } from './accepting-holder.ts';

const key = 'shop/web';
const cleanUps: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A pod behind the Service; the test decides how it serves a connection. */
async function startPod(serve: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    serve(socket);
  });
  await listen(server);
  cleanUps.push(() => void server.close());
  return (server.address() as net.AddressInfo).port;
}

async function start(podPort: number, limits: { perService?: number; holdMs?: number } = {}) {
  const needed: boolean[] = [];
  const holder = new AcceptingHolder({
    perService: limits.perService ?? 10,
    inAll: 20,
    holdMs: limits.holdMs ?? 20_000,
    drainMs: 5_000,
    needPods: (_, __, isFirst) => needed.push(isFirst),
    canAccept: true,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
  });
  const sleepingPort = podPort === 1 ? 2 : 1;
  const service: Service = {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { clusterIP: '127.0.0.1', ports: [{ port: podPort }, { port: sleepingPort }] },
  };
  const listeners = (await holder.listen(service)) ?? new Map<string, Port>();
  expect(listeners.size).toBe(2);
  const stop = new AbortController();
  const running = holder.run(stop.signal);
  const end = () => {
    stop.abort();
    return running;
  };
  cleanUps.push(end);
  const connect = async (to = podPort) => {
    const listener = listeners.get(`TCP/${to}`) ?? 0;
    const socket = net.connect({ port: listener, host: '127.0.0.1', allowHalfOpen: true });
    // A refused client may get the reset before it is connected.
    await new Promise<void>((resolve) => {
      socket.once('connect', resolve);
      socket.on('error', () => resolve());
    });
    cleanUps.push(() => void socket.destroy());
    return socket;
  };
  const waiting = async (count: number) => {
    while (holder.waiting(key) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const target = (port: number, dispatch: Dispatch): ServedTarget => ({
    port: `TCP/${port}`,
    virtual: {
      address: parseAddress('127.0.0.1'),
      protocol: 'TCP',
      port: parsePort(port),
      dispatch,
      masquerade: 'needed',
      withoutBackends: 'reject',
    },
  });
  const slots: Dispatch = { kind: 'slots', backends: [] };
  const commit = (diversion: Diversion | undefined, other: Dispatch) => {
    const targets = [target(podPort, slots), target(sleepingPort, other)];
    holder.onCommit([{ service: key, diversion, healthCheck: undefined, targets }]);
  };
  const wake = () => commit(undefined, slots);
  /** All ports but the last. */
  const wakeInPart = () =>
    commit(
      { kind: 'accept', listeners, logGroup: 9 },
      { kind: 'here', port: listeners.get(`TCP/${sleepingPort}`) ?? parsePort(1) },
    );
  const remove = () => {
    const gone = { diversion: undefined, healthCheck: undefined, targets: [] };
    holder.onCommit([{ service: key, ...gone }]);
  };
  /** A Service of the same name; it is the same Service if it has the same address. */
  const listenFor = (clusterIP: string) =>
    holder.listen({ ...service, spec: { ...service.spec, clusterIP } });
  return { connect, waiting, wake, wakeInPart, remove, listenFor, sleepingPort, needed, end };
}

describe('AcceptingHolder', () => {
  it('accepts at once, asks for pods, and forwards the bytes received in the meantime', async () => {
    const podPort = await startPod((socket) => void socket.pipe(socket));
    const { connect, waiting, wake, needed } = await start(podPort);
    const client = await connect();
    client.write('said early, ');
    await connect();
    await waiting(2);
    expect(needed).toEqual([true, false]);
    wake();
    client.end('and late');
    expect(await text(client)).toBe('said early, and late');
  });

  it('serves each port as soon as it is awake, and keeps holding the others', async () => {
    const podPort = await startPod((socket) => void socket.end('hello'));
    const { connect, waiting, wakeInPart, remove, sleepingPort } = await start(podPort);
    const [early, other] = [await connect(), await connect(sleepingPort)];
    await waiting(2);
    wakeInPart();
    expect(await text(early)).toBe('hello');
    expect(await text(await connect())).toBe('hello');
    await waiting(1);
    const closed = new Promise<NodeJS.ErrnoException>((resolve) => other.once('error', resolve));
    other.resume();
    remove();
    expect((await closed).code).toBe('ECONNRESET');
  });

  it('listens again for another Service of the same name, and resets clients that wait for the previous one', async () => {
    const podPort = await startPod(() => {});
    const { connect, waiting, listenFor } = await start(podPort);
    const client = await connect();
    await waiting(1);
    const before = await listenFor('127.0.0.1');
    expect(before?.size).toBe(2);
    const closed = new Promise<NodeJS.ErrnoException>((resolve) => client.once('error', resolve));
    client.resume();
    const after = await listenFor('127.0.0.2');
    expect((await closed).code).toBe('ECONNRESET');
    expect(after?.size).toBe(2);
    expect(after).not.toEqual(before);
  });

  it('passes on the end of one direction without ending the other', async () => {
    const podPort = await startPod((socket) => {
      let heard = '';
      socket.on('data', (data) => (heard += data.toString()));
      socket.on('end', () => socket.end(`heard ${heard}`));
    });
    const { connect, waiting, wake } = await start(podPort);
    const client = await connect();
    client.end('all of it');
    await waiting(1);
    wake();
    expect(await text(client)).toBe('heard all of it');
  });

  it('passes on a reset', async () => {
    const podPort = await startPod((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { connect, waiting, wake } = await start(podPort);
    const client = await connect();
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => client.once('error', resolve));
    client.write('x');
    await waiting(1);
    wake();
    expect((await failed).code).toBe('ECONNRESET');
  });

  it('refuses connections above the limit, and frees the place of a client that disconnects', async () => {
    const podPort = await startPod((socket) => void socket.end('hello'));
    const { connect, waiting, wake, needed } = await start(podPort, { perService: 1 });
    const first = await connect();
    await waiting(1);
    const second = await connect();
    second.resume();
    while (!second.destroyed) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(needed).toEqual([true, false]);
    first.resetAndDestroy();
    await waiting(0);
    const third = await connect();
    await waiting(1);
    wake();
    expect(await text(third)).toBe('hello');
  });

  it('resets connections after the hold time', async () => {
    const podPort = await startPod(() => {});
    const { connect } = await start(podPort, { holdMs: 50 });
    const client = await connect();
    const closed = new Promise<NodeJS.ErrnoException>((resolve) => client.once('error', resolve));
    client.resume();
    expect((await closed).code).toBe('ECONNRESET');
  });

  it('keeps established connections when it ends', async () => {
    const podPort = await startPod((socket) => void socket.pipe(socket));
    const { connect, waiting, wake, end } = await start(podPort);
    const client = await connect();
    await waiting(1);
    wake();
    client.write('one, ');
    await new Promise((resolve) => client.once('readable', resolve));
    const ended = end();
    client.end('two');
    expect(await text(client)).toBe('one, two');
    await ended;
  });
});
