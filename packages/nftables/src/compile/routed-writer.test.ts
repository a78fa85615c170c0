import { expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { memoryRouting } from '../drivers/memory-driver.ts';
import { RoutedWriter, type RoutingMachine } from './routed-writer.ts';
import { serviceKey, type VirtualService } from './virtual-service.ts';

const { signal } = new AbortController();
const settings = { table: 'causeway', hashSeed: 7 };
const nodes = [address('10.0.0.1'), address('fd00::1')];
const routed = (to: string): VirtualService => ({
  address: address(to),
  protocol: 'TCP',
  port: port(80),
  dispatch: { kind: 'nodes-unchanged' },
});
const other = (to: string): VirtualService => ({
  ...routed(to),
  dispatch: { kind: 'slots', backends: [] },
});

async function started(machine: RoutingMachine, ...services: VirtualService[]) {
  const writer = new RoutedWriter(machine, settings);
  await writer.replaceAll(services, nodes, signal);
  return writer;
}

async function routes({ tables }: ReturnType<typeof memoryRouting>) {
  const present = [...tables.values()].map(async (driver) => (await driver.read())?.sets);
  return (await Promise.all(present)).map((sets) => sets?.get('routes')?.elements.size);
}

test('tables exist only while a service is routed', async () => {
  const machine = memoryRouting('causeway');
  const writer = await started(machine, other('192.0.2.9'));
  expect(await routes(machine)).toEqual([undefined, undefined]);
  expect(await writer.commit({ set: [routed('192.0.2.1')] }, signal)).toBe(true);
  expect(await routes(machine)).toEqual([1, undefined]);
  expect(await writer.commit({ set: [routed('192.0.2.1')] }, signal)).toBe(false);
  expect(await writer.commit({ set: [other('192.0.2.3')], nodes }, signal)).toBe(false);
  await writer.commit({ set: [routed('2001:db8::1')], nodes: nodes.slice(0, 1) }, signal);
  // It has no node of its family, so it has no route.
  expect(await routes(machine)).toEqual([1, 0]);
  await writer.commit({ set: [other('192.0.2.1')] }, signal);
  expect(await routes(machine)).toEqual([undefined, 0]);
  await writer.commit({ remove: [serviceKey(routed('2001:db8::1'))] }, signal);
  expect(await routes(machine)).toEqual([undefined, undefined]);
});

test('the next process adopts the existing tables', async () => {
  const machine = memoryRouting('causeway');
  await started(machine, routed('192.0.2.1'), routed('192.0.2.2'));
  const next = new RoutedWriter(machine, settings);
  const same = [routed('192.0.2.1'), routed('192.0.2.2')];
  expect(await next.replaceAll(same, nodes, signal)).toBe(false);
  expect(await next.replaceAll([], nodes, signal)).toBe(true);
  expect(await routes(machine)).toEqual([undefined, undefined]);
});

test('after a partially failed commit, the opposite change restores the tables', async () => {
  const machine = memoryRouting('causeway');
  const writer = await started(machine);
  const six = await machine.open(6);
  const working = six.apply.bind(six);
  six.apply = () => Promise.reject(new Error('no room'));
  const set = [routed('192.0.2.1'), routed('2001:db8::1')];
  await expect(writer.commit({ set }, signal)).rejects.toThrow('no room');
  expect(await routes(machine)).toEqual([1, undefined]);
  six.apply = working;
  await writer.commit({ remove: set.map(serviceKey) }, signal);
  expect(await routes(machine)).toEqual([undefined, undefined]);
});
