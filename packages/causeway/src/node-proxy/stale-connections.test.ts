import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort, type Protocol } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Removed } from '@causeway/nftables/compile/layout-change';
import type { Dispatch } from '@causeway/nftables/compile/virtual-service';
import type { CheckedService } from '@causeway/nftables/conntrack/stale-entries';
import { StaleConnections } from './stale-connections.ts';

const { signal } = new AbortController();
const slots: Dispatch = { kind: 'slots', backends: [] };
const hold: Dispatch = { kind: 'hold', logGroup: 9 };
const target = (protocol: Protocol, dispatch: Dispatch, ...serving: string[]): CheckedService => ({
  address: parseAddress('10.96.0.1'),
  protocol,
  port: parsePort(53),
  dispatch,
  serving: serving.map((address) => ({ address: parseAddress(address), port: parsePort(8053) })),
});
const backend = (protocol: Protocol): Removed => ({
  address: parseAddress('10.1.0.1'),
  backend: {
    ...{ protocol, port: parsePort(8053) },
    ...{ virtualAddress: parseAddress('10.96.0.1'), virtualPort: parsePort(53) },
  },
});

/** Records the calls to conntrack. */
function start() {
  const checked: (readonly CheckedService[])[] = [];
  const removed: (readonly Removed[])[] = [];
  const clock = new SimulatedClock();
  const stale = new StaleConnections({
    connections: {
      deleteConnections: (each) => Promise.resolve(each.length === 0 ? 0 : removed.push(each)),
      deleteStaleEntries: (each) => Promise.resolve(each.length === 0 ? 0 : checked.push(each)),
    },
    ...{ clock, log: discardLog, metrics: noMetrics },
  });
  const change = (
    served: readonly CheckedService[],
    removedBackends: readonly Removed[] = [],
    isFirst = false,
  ) => stale.delete({ served, removedBackends, isFirst }, signal);
  return { checked, removed, clock, change };
}

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
    const { checked, change } = start();
    const virtual = target(protocol, dispatch);
    await change([virtual]);
    expect(checked).toEqual(isChecked ? [[virtual]] : []);
  },
);

test('deletes unanswered attempts from before a start, of served TCP too', async () => {
  const { checked, change } = start();
  await change([target('TCP', slots)], [], true);
  expect(checked).toEqual([[target('TCP', slots)]]);
});

test('does not read conntrack if no endpoint has left', async () => {
  const { checked, removed, change } = start();
  await change([target('UDP', slots, '10.1.0.1')]);
  await change([target('UDP', slots, '10.1.0.1')]);
  await change([target('UDP', slots, '10.1.0.1', '10.1.0.2')], [backend('UDP')]);
  expect(checked).toHaveLength(1);
  await change([target('UDP', slots, '10.1.0.2')]);
  expect(checked).toHaveLength(2);
  expect(removed).toEqual([]);
});

test('deletes all flows of a removed UDP target, also if a failed transaction removed it', async () => {
  const { removed, change } = start();
  const virtual = target('UDP', slots, '10.1.0.1');
  const { address, protocol, port } = virtual;
  const service = { address, protocol, port };
  await change([virtual]);
  await change([], [{ service }]);
  expect(removed).toEqual([[{ service }]]);
  await change([virtual]);
  await change([], [], true);
  expect(removed[1]).toMatchObject([{ service }]);
});

test('deletes the unanswered attempts to removed TCP endpoints and targets, and nothing else', async () => {
  const { removed, clock, change } = start();
  const { address, protocol, port } = target('TCP', slots);
  const service = { address, protocol, port };
  await change([], [backend('TCP'), backend('UDP'), { service }]);
  expect(removed).toEqual([]);
  await clock.advance(500);
  expect(removed).toEqual([
    [
      { ...backend('TCP'), keepsAnswered: true },
      { service, keepsAnswered: true },
    ],
  ]);
});
