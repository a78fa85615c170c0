import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeFrontend, frontendKey, type Frontend } from '../../protocol/frontend.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { DesiredState } from './desired-state.ts';

function frontend(service: string, port: number, pod = 1): Frontend {
  return makeFrontend({
    address: parseAddress('192.0.2.1'),
    protocol: 'TCP',
    port: parsePort(port),
    service,
    destinations: [{ address: parseAddress(`10.0.0.${pod}`), port: parsePort(8080), weight: 1 }],
  });
}

test('keeps the generation if nothing changes', () => {
  const state = new DesiredState(10);
  const first = state.setService('a', [frontend('a', 80)]);
  expect(first).toBe(11);
  state.setService('b', [frontend('b', 81)]);
  expect(state.setService('a', [frontend('a', 80)])).toBe(11);
  expect(state.generation).toBe(12);
});

test('puts only later changes into a delta', () => {
  const state = new DesiredState(0);
  state.setService('a', [frontend('a', 80)]);
  const base = state.setService('b', [frontend('b', 81)]);
  state.setService('a', []);
  state.setService('b', [frontend('b', 81, 2)]);
  state.setNodes([parseAddress('10.9.0.1')]);
  const delta = state.since(base);
  expect([...delta.frontends].map(frontendKey)).toEqual(['192.0.2.1:81/TCP']);
  expect([...delta.removedFrontends]).toEqual([
    { address: '192.0.2.1', protocol: 'TCP', port: 80 },
  ]);
  expect([...delta.nodes]).toEqual([{ address: '10.9.0.1' }]);
});

test('does not remove a frontend that moved to another Service', () => {
  const state = new DesiredState(0);
  state.setService('a', [frontend('a', 80)]);
  state.setService('b', [frontend('b', 80)]);
  state.setService('a', []);
  expect([...state.all().frontends].map(({ service }) => service)).toEqual(['b']);
});

test('names the Services that changed after a generation, and those with given backends only', () => {
  const state = new DesiredState(0);
  const base = state.setService('a', [frontend('a', 80), frontend('a', 81, 2)]);
  state.setService('b', [frontend('b', 82, 2)]);
  expect([...state.servicesSince(base)]).toEqual(['b']);
  expect([...state.servicesSince(0)]).toEqual(['a', 'b']);
  const [one, two] = [parseAddress('10.0.0.1'), parseAddress('10.0.0.2')];
  expect([...state.servicesOnlyAt(new Set([two]))]).toEqual(['b']);
  expect([...state.servicesOnlyAt(new Set([one, two]))]).toEqual(['a', 'b']);
  const onNodes = { ...frontend('c', 83), destinations: [], nodePort: parsePort(30_000) };
  state.setService('c', [onNodes]);
  expect(state.servicesOnlyAt(new Set([one])).has('c')).toBe(false);
  state.setNodes([one]);
  expect([...state.servicesOnlyAt(new Set([one]))]).toEqual(['c']);
});

test('requires the full state for a gateway older than the dropped removals', () => {
  const state = new DesiredState(0);
  const old = state.setService('a', [frontend('a', 80)]);
  const removed = state.setService('a', []);
  expect(state.canStartFrom(old)).toBe(true);
  state.forgetRemoved(removed);
  expect(state.canStartFrom(old)).toBe(false);
  expect(state.canStartFrom(removed)).toBe(true);
  expect(state.canStartFrom(removed + 1)).toBe(false);
});

test('brings every gateway to the full state by deltas, for any sequence of changes', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('set' as const),
      service: fc.constantFrom('a', 'b', 'c'),
      ports: fc.uniqueArray(fc.constantFrom(80, 81, 82), { maxLength: 3 }),
      pod: fc.constantFrom(1, 2),
    }),
    fc.record({ kind: fc.constant('push' as const), gateway: fc.constantFrom(0, 1) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const state = new DesiredState(5);
      const gateways = [0, 1].map(() => ({ confirmed: 0, holds: new Map<string, Frontend>() }));
      const push = (index: number) => {
        const gateway = gateways[index];
        if (gateway === undefined) return;
        if (state.canStartFrom(gateway.confirmed)) {
          const delta = state.since(gateway.confirmed);
          for (const id of delta.removedFrontends) gateway.holds.delete(frontendKey(id));
          for (const item of delta.frontends) gateway.holds.set(frontendKey(item), item);
        } else {
          gateway.holds = new Map(
            [...state.all().frontends].map((item) => [frontendKey(item), item]),
          );
        }
        gateway.confirmed = state.generation;
        state.forgetRemoved(Math.min(...gateways.map(({ confirmed }) => confirmed)));
      };
      for (const action of steps) {
        if (action.kind === 'push') push(action.gateway);
        else {
          // Services never share a port: each has its own range.
          const offset = { a: 0, b: 100, c: 200 }[action.service];
          state.setService(
            action.service,
            action.ports.map((port) => frontend(action.service, port + offset, action.pod)),
          );
        }
      }
      const whole = new Map([...state.all().frontends].map((item) => [frontendKey(item), item]));
      for (const index of [0, 1]) {
        push(index);
        expect(gateways[index]?.holds).toEqual(whole);
      }
    }),
  );
});

test('gives a frontend with two owners to the remaining one', () => {
  const state = new DesiredState(0);
  state.setService('new', [frontend('new', 80)]);
  // This Service's address is outdated: the cloud has assigned it to the other Service.
  state.setService('stale', [frontend('stale', 80)]);
  state.setService('stale', [frontend('stale', 81)]);
  expect([...state.all().frontends].map(({ service, port }) => `${service} ${port}`)).toEqual([
    'new 80',
    'stale 81',
  ]);
  state.setService('new', []);
  expect([...state.all().frontends].map(({ service }) => service)).toEqual(['stale']);
});
