import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Pin } from '@causeway/nftables/pins/pin';
import { frontendKey } from '../../protocol/frontend.ts';
import { PinTable } from './pin-table.ts';

const limits = { perFrontend: 3, total: 5, timeoutMs: 1_000 };

function pin(clientPort: number, options: { port?: number; backend?: string } = {}): Pin {
  const { port = 80, backend = '10.0.0.1' } = options;
  return {
    client: parseAddress('198.51.100.7'),
    clientPort: parsePort(clientPort),
    address: parseAddress('192.0.2.1'),
    port: parsePort(port),
    backend: parseAddress(backend),
    backendPort: parsePort(8080),
  };
}

function table() {
  const clock = new SimulatedClock();
  return { clock, pins: new PinTable('first', limits, clock) };
}

const ports = (pins: readonly Pin[]) => pins.map(({ clientPort }) => clientPort);

describe('the changes since a cursor', () => {
  test('are all pins for a gateway that knows none', () => {
    const { pins } = table();
    pins.own(pin(1));
    pins.own(pin(2));
    expect(ports(pins.since(undefined, false).set)).toEqual([1, 2]);
    expect(ports(pins.since({ epoch: 'other', version: 2 }, false).set)).toEqual([1, 2]);
  });

  test('are only the later ones, each once', () => {
    const { pins } = table();
    pins.own(pin(1));
    const { cursor } = pins.since(undefined, false);
    expect(pins.since(cursor, false)).toEqual({ cursor, set: [], removed: [] });
    pins.own(pin(2));
    pins.own(pin(2, { backend: '10.0.0.2' }));
    pins.remove(pin(1), true);
    const { set, removed } = pins.since(cursor, false);
    expect(set).toEqual([pin(2, { backend: '10.0.0.2' })]);
    expect(ports(removed)).toEqual([1]);
  });

  test('can leave out the pins of other gateways', () => {
    const { pins } = table();
    pins.own(pin(1));
    pins.take(pin(2));
    expect(ports(pins.since(undefined, true).set)).toEqual([1]);
  });
});

describe('the limits', () => {
  test('leave half of the table to moved connections', () => {
    const { pins } = table();
    pins.ownIfRoom(pin(1));
    pins.ownIfRoom(pin(2));
    pins.ownIfRoom(pin(3));
    expect(ports(pins.since(undefined, false).set)).toEqual([1, 2]);
    expect([...pins.full].map(({ port }) => port)).toEqual([80]);
    pins.own(pin(4));
    pins.ownIfRoom(pin(5, { port: 81 }));
    expect(ports(pins.since(undefined, false).set)).toEqual([1, 2, 4]);
  });

  test('remove the oldest pin of the frontend, which is then not failover-safe', () => {
    const { pins } = table();
    pins.own(pin(9, { port: 81 }));
    for (const port of [1, 2, 3, 4]) pins.own(pin(port));
    expect(ports(pins.since(undefined, false).set)).toEqual([9, 2, 3, 4]);
    expect([...pins.full].map(frontendKey)).toEqual(['192.0.2.1:80/TCP']);
    for (const port of [2, 3, 4]) pins.remove(pin(port), true);
    expect([...pins.full]).toEqual([]);
  });

  test('remove the oldest pin of all frontends', () => {
    const { pins } = table();
    for (const port of [1, 2, 3]) pins.own(pin(port));
    for (const port of [4, 5, 6]) pins.own(pin(port, { port: 81 }));
    expect(ports(pins.since(undefined, false).set)).toEqual([2, 3, 4, 5, 6]);
  });
});

describe('a pin', () => {
  test('of a running connection is renewed, and another one ends after its timeout', async () => {
    const { pins, clock } = table();
    pins.own(pin(1));
    pins.take(pin(2));
    const { cursor } = pins.since(undefined, false);
    await clock.advance(600);
    pins.renew(({ clientPort }) => clientPort === 1);
    expect(ports(pins.since(cursor, false).set)).toEqual([1]);
    await clock.advance(600);
    pins.renew(() => false);
    expect(ports(pins.since(undefined, false).set)).toEqual([1]);
  });

  test('of an own connection is not replaced or removed by another gateway', () => {
    const { pins } = table();
    pins.own(pin(1));
    pins.take(pin(1, { backend: '10.0.0.9' }));
    pins.remove(pin(1), false);
    expect(pins.since(undefined, false).set).toEqual([pin(1)]);
    pins.disown();
    pins.remove(pin(1), false);
    expect(pins.size).toBe(0);
  });

  test('waits for the kernel once, unless the kernel has it already', () => {
    const { pins } = table();
    pins.restore([pin(1)]);
    expect(pins.takePending()).toEqual({ set: [], remove: [] });
    pins.own(pin(2));
    pins.remove(pin(1), true);
    expect(pins.takePending()).toEqual({ set: [pin(2)], remove: [pin(1)] });
    expect(pins.takePending()).toEqual({ set: [], remove: [] });
  });
});
