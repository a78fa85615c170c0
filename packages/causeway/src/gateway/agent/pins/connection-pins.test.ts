import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressBytes, parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { systemClock } from '@causeway/base/time/clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { ConnectionListener } from '@causeway/nftables/conntrack/connection-feed';
import type { Tracked } from '@causeway/nftables/conntrack/tracked-connection';
import { SlotLookup } from '@causeway/nftables/pins/slot-lookup';
import { MemoryKernel } from '../memory-kernel.ts';
import type { Role } from '../../protocol/role.ts';
import { ConnectionPins } from './connection-pins.ts';
import { pinLimits } from './pin-limits.ts';

const layout = {
  table: 'causeway',
  hashSeed: 7,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const client = parseAddress('198.51.100.7');
const virtual = parseAddress('192.0.2.1');
const bytes = (address: string) =>
  Buffer.from(addressBytes(parseAddress(address))).toString('latin1');

/** A kernel with connections that a test begins and ends. */
class LiveKernel extends MemoryKernel {
  listener: ConnectionListener | undefined;

  override followConnections(listener: ConnectionListener, signal: AbortSignal): Promise<void> {
    this.listener = listener;
    return whenAborted(signal);
  }

  /** The client ports of the pins in the kernel. */
  async pinnedPorts(map = 'pins4', field = 1): Promise<number[]> {
    const elements = await this.counters(map, new AbortController().signal);
    return [...elements.keys()]
      .map((id) => Number(id.split(' . ')[field]))
      .sort((left, right) => left - right);
  }
}

function service(count: number): VirtualService {
  const backends = Array.from({ length: count }, (_, index) => ({
    address: parseAddress(`10.0.0.${index + 1}`),
    port: parsePort(8080),
  }));
  return {
    address: virtual,
    protocol: 'TCP',
    port: parsePort(80),
    dispatch: { kind: 'slots', backends },
  };
}

/** The backend of a slot, as the kernel selects it. */
function backendOf(of: VirtualService, port: number): string {
  const lookup = new SlotLookup(layout.hashSeed);
  const found = lookup.backendOf(of, [], { address: addressBytes(client), port });
  return found?.address ?? '';
}

function connection(port: number, backend: string): Tracked {
  const [from, to] = [bytes(client), bytes(virtual)];
  return {
    original: {
      source: from,
      sourcePort: port,
      destination: to,
      destinationPort: 80,
      protocol: 6,
    },
    reply: {
      source: bytes(backend),
      sourcePort: 8080,
      destination: from,
      destinationPort: port,
      protocol: 6,
    },
    rawOriginal: Buffer.alloc(0),
    rawId: Buffer.of(1),
    family: 4,
    isAnswered: true,
  };
}

const ports = Array.from({ length: 50 }, (_, index) => 40_000 + index);
const two = service(2);
const four = service(4);
const moved = ports.filter((port) => backendOf(two, port) !== backendOf(four, port));
let stop: AbortController;
let loops: Promise<unknown>[];
let kernel: LiveKernel;
let pins: ConnectionPins;
let role: Role;

async function start(): Promise<void> {
  stop = new AbortController();
  pins = new ConnectionPins({
    kernel,
    limits: pinLimits,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    role: () => role,
  });
  const none = { nodes: [], drainingNodes: [], policies: [], pods: [] };
  await kernel.ruleset.replaceAll({ set: [two], ...none }, stop.signal);
  loops = Object.values(pins.loops()).map((loop) => loop(stop.signal));
}

async function end(): Promise<void> {
  stop.abort();
  await Promise.allSettled(loops);
}

beforeEach(async () => {
  role = 'active';
  kernel = new LiveKernel(layout);
  await start();
});
afterEach(end);

const begin = (port: number, of: VirtualService) =>
  kernel.listener?.began(connection(port, backendOf(of, port)));

test('a change pins exactly the connections that it moves, before it is applied', async () => {
  for (const port of ports) begin(port, two);
  expect(await kernel.pinnedPorts()).toEqual([]);
  await pins.prepare({ set: [four] }, stop.signal);
  expect(await kernel.pinnedPorts()).toEqual(moved);
  expect(moved.length).toBeGreaterThan(0);
  expect(moved.length).toBeLessThan(ports.length);
});

test('a connection that began before the switch is pinned, also if it is reported after it', async () => {
  const [early = 0, late = 0] = moved;
  begin(early, two);
  await kernel.ruleset.commit({ set: [four] }, stop.signal);
  begin(late, two);
  const { set } = await pins.since(undefined);
  expect(set.map(({ clientPort }) => clientPort)).toEqual([early, late]);
});

test('the pin ends with its connection, or when the client uses its port again', async () => {
  const [first = 0, second = 0] = moved;
  for (const port of [first, second]) begin(port, two);
  await kernel.ruleset.commit({ set: [four] }, stop.signal);
  await expect.poll(() => kernel.pinnedPorts()).toEqual([first, second]);
  kernel.listener?.ended(connection(first, backendOf(two, first)));
  begin(second, four);
  await expect.poll(() => kernel.pinnedPorts()).toEqual([]);
});

test('connections of a backend behind two frontends are pinned', async () => {
  const other: VirtualService = { ...service(1), port: parsePort(81) };
  const shared = ports.filter((port) => backendOf(two, port) === '10.0.0.1');
  const late = shared.at(-1) ?? 0;
  for (const port of ports) if (port !== late) begin(port, two);
  await kernel.ruleset.commit({ set: [other] }, stop.signal);
  await expect.poll(() => kernel.pinnedPorts()).toEqual(shared.slice(0, -1));
  begin(late, two);
  await expect.poll(() => kernel.pinnedPorts()).toEqual(shared);
  expect(await kernel.pinnedPorts('reverse-pins4', 3)).toEqual(shared);
  for (const port of shared) kernel.listener?.ended(connection(port, backendOf(two, port)));
  await expect.poll(() => kernel.pinnedPorts()).toEqual([]);
  expect(await kernel.pinnedPorts('reverse-pins4', 3)).toEqual([]);
});

test('pins are handed over while a controller collects them', async () => {
  expect(pins.areHandedOver()).toBe(false);
  await pins.since(undefined);
  expect(pins.areHandedOver()).toBe(true);
});

test('a gateway that is no longer active keeps its pins when it deletes its entries', async () => {
  const [port = 0] = moved;
  begin(port, two);
  await pins.prepare({ set: [four] }, stop.signal);
  role = 'standby';
  pins.leftActiveRole();
  kernel.listener?.ended(connection(port, backendOf(two, port)));
  expect((await pins.since(undefined)).set).toHaveLength(1);
});

test('pins of another gateway are in the kernel until they are removed', async () => {
  const [port = 0] = moved;
  begin(port, two);
  await pins.prepare({ set: [four] }, stop.signal);
  const { set } = await pins.since(undefined);
  await end();

  kernel = new LiveKernel(layout);
  await start();
  await pins.take(set, [], stop.signal);
  expect(await kernel.pinnedPorts()).toEqual([port]);
  await pins.take([], set, stop.signal);
  expect(await kernel.pinnedPorts()).toEqual([]);
});
