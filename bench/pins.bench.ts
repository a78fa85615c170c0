// Cost of pinning the connections of one frontend: with few and with many connections of other frontends.

import { addressBytes, addressFromInteger } from '../packages/base/src/address/address.ts';
import type { Address } from '../packages/base/src/address/address.ts';
import { parsePort } from '../packages/base/src/address/port.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics } from '../packages/base/src/observability/metrics.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { whenAborted } from '../packages/base/src/time/when-aborted.ts';
import { ConnectionPins } from '../packages/causeway/src/gateway/agent/pins/connection-pins.ts';
import { pinLimits } from '../packages/causeway/src/gateway/agent/pins/pin-limits.ts';
import { MemoryKernel } from '../packages/causeway/src/gateway/agent/memory-kernel.ts';
import type { VirtualService } from '../packages/nftables/src/compile/virtual-service.ts';
import type { ConnectionListener } from '../packages/nftables/src/conntrack/connection-feed.ts';
import type { Tracked } from '../packages/nftables/src/conntrack/tracked-connection.ts';
import { compare, type BenchmarkSuite } from './benchmark.ts';
import { settings } from './ruleset-load.ts';

const connectionsOfFrontend = 100;
const { signal } = new AbortController();
const ip = (base: number, index: number) => addressFromInteger(BigInt(base + index), 4);
const virtual = (frontend: number) => ip(0xc0000200, frontend);
const backends = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    address: ip(0x0a000001, index),
    port: parsePort(8080),
  }));

function service(frontend: number, count: number): VirtualService {
  return {
    address: virtual(frontend),
    protocol: 'TCP',
    port: parsePort(80),
    dispatch: { kind: 'slots', backends: backends(count) },
  };
}

function connection(frontend: number, index: number): Tracked {
  const bytes = (address: Address) => Buffer.from(addressBytes(address)).toString('latin1');
  const client = { address: bytes(ip(0x64000000, index >> 12)), port: 1024 + (index & 0xfff) };
  return {
    original: {
      source: client.address,
      sourcePort: client.port,
      destination: bytes(virtual(frontend)),
      destinationPort: 80,
      protocol: 6,
    },
    reply: {
      source: bytes(ip(0x0a000001, index % 2)),
      sourcePort: 8080,
      destination: client.address,
      destinationPort: client.port,
      protocol: 6,
    },
    rawOriginal: Buffer.alloc(0),
    rawId: Buffer.of(1),
    family: 4,
    isAnswered: true,
  };
}

/** A gateway with connections of one frontend, and of a hundred others. */
class BusyKernel extends MemoryKernel {
  readonly #others: number;

  constructor(others: number) {
    super({ ...settings, resumeConnections: true });
    this.#others = others;
  }

  override followConnections(listener: ConnectionListener, until: AbortSignal): Promise<void> {
    for (let index = 0; index < connectionsOfFrontend; index += 1) {
      listener.began(connection(0, index));
    }
    for (let index = 0; index < this.#others; index += 1) {
      listener.began(connection(1 + (index % 100), index));
    }
    return whenAborted(until);
  }
}

async function busyGateway(others: number): Promise<() => Promise<number>> {
  const kernel = new BusyKernel(others);
  const pins = new ConnectionPins({
    kernel,
    limits: pinLimits,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    role: () => 'active',
  });
  const set = Array.from({ length: 101 }, (_, frontend) => service(frontend, 2));
  const none = { nodes: [], drainingNodes: [], policies: [], pods: [] };
  await kernel.ruleset.replaceAll({ set, ...none }, signal);
  const stop = new AbortController();
  const following = pins.loops()['connections']?.(stop.signal);
  stop.abort();
  await following;
  let count = 3;
  return async () => {
    const started = performance.now();
    for (let turn = 0; turn < 20; turn += 1) {
      count = count === 3 ? 4 : 3;
      await pins.prepare({ set: [service(0, count)] }, signal);
    }
    return (performance.now() - started) / 20;
  };
}

const name = '100 connections pinned, beside 100,000 of other frontends';

export const suite: BenchmarkSuite<typeof name> = {
  name: 'pins',
  bars: { [name]: { of: 'ratio', comparison: 'at most', limit: 1.5, unit: 'ms' } },
  async run() {
    const many = await busyGateway(100_000);
    const few = await busyGateway(100);
    await many();
    await few();
    return { [name]: await compare(9, many, few) };
  },
};
