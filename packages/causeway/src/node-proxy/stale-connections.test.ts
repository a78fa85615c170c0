import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort, type Protocol } from '@causeway/base/address/port';
import type { RemovedBackend } from '@causeway/nftables/compile/layout-change';
import type { Dispatch, VirtualService } from '@causeway/nftables/compile/virtual-service';
import { deleteStaleConnections, deleteUnanswered } from './stale-connections.ts';

const slots: Dispatch = { kind: 'slots', backends: [] };
const hold: Dispatch = { kind: 'hold', logGroup: 9 };

test.each<[string, Protocol, Dispatch, boolean]>([
  ['served UDP', 'UDP', slots, true],
  ['held UDP, because its pods are deleted', 'UDP', hold, true],
  ['not served TCP', 'TCP', slots, false],
  ['not held TCP', 'TCP', hold, false],
  ['not accepted TCP', 'TCP', { kind: 'here', port: parsePort(5_000) }, false],
  ['not SCTP', 'SCTP', slots, false],
])(
  'deletes conntrack entries that lead elsewhere: %s',
  async (_, protocol, dispatch, isChecked) => {
    const virtual: VirtualService = {
      address: parseAddress('10.96.0.1'),
      protocol,
      port: parsePort(53),
      dispatch,
      masquerade: 'needed',
      withoutBackends: 'reject',
    };
    let checked: readonly VirtualService[] = [];
    const table = {
      deleteConnections: () => Promise.resolve(0),
      deleteStaleEntries: (services: readonly VirtualService[]) => {
        checked = services;
        return Promise.resolve(services.length);
      },
    };
    const { signal } = new AbortController();
    const paths = { removedBackends: [], served: [virtual], isFirst: false };
    const count = await deleteStaleConnections(table, paths, signal);
    expect(checked).toEqual(isChecked ? [virtual] : []);
    expect(count).toBe(isChecked ? 1 : 0);
  },
);

test('deletes unanswered attempts from before a start, of served TCP too', async () => {
  const virtual: VirtualService = {
    address: parseAddress('10.96.0.1'),
    protocol: 'TCP',
    port: parsePort(53),
    dispatch: slots,
    masquerade: 'needed',
    withoutBackends: 'reject',
  };
  let checked: readonly VirtualService[] = [];
  const table = {
    deleteConnections: () => Promise.resolve(0),
    deleteStaleEntries: (services: readonly VirtualService[]) => {
      checked = services;
      return Promise.resolve(0);
    },
  };
  const { signal } = new AbortController();
  const paths = { removedBackends: [], served: [virtual], isFirst: true };
  await deleteStaleConnections(table, paths, signal);
  expect(checked).toEqual([virtual]);
});

test('deletes the unanswered attempts to removed TCP endpoints, and nothing else', async () => {
  const [TCP, UDP] = (['TCP', 'UDP'] as const).map((protocol): RemovedBackend => {
    const virtual = { virtualAddress: parseAddress('10.96.0.1'), virtualPort: parsePort(53) };
    const backend = { protocol, port: parsePort(8053), ...virtual };
    return { address: parseAddress('10.1.0.1'), backend };
  }) as [RemovedBackend, RemovedBackend];
  let deleted: readonly RemovedBackend[] = [];
  const table = {
    deleteConnections: (removed: readonly RemovedBackend[]) => {
      deleted = removed;
      return Promise.resolve(3);
    },
    deleteStaleEntries: () => Promise.resolve(0),
  };
  const { signal } = new AbortController();
  expect(await deleteUnanswered(table, [TCP, UDP], signal)).toBe(3);
  expect(deleted).toEqual([{ ...TCP, keepsAnswered: true }]);
});
