import { expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { idledAt, unidleTargets } from './annotations.ts';
import { LegacyMarks } from './legacy-marks.ts';
import type { Waker } from './waker.ts';

const annotations = {
  [idledAt]: '2026-01-01T00:00:00Z',
  [unidleTargets]: JSON.stringify([
    { kind: 'Deployment', name: 'web', group: 'apps', replicas: 1 },
  ]),
};

it('repairs the other marks after a failure', async () => {
  const written: string[] = [];
  async function* list() {
    await Promise.resolve();
    for (const name of ['a', 'refused', 'b']) {
      yield { metadata: { namespace: 'shop', name, annotations } };
    }
  }
  const patchMerge = (_: unknown, { name }: ObjectName) => {
    if (name === 'refused') return Promise.reject(new CausewayError('forbidden', 'no'));
    written.push(name);
    return Promise.resolve();
  };
  const events: string[] = [];
  const marks = new LegacyMarks({
    client: { list, patchMerge } as unknown as KubeClient,
    waker: { areAllAsleep: () => Promise.resolve(true) } as unknown as Waker,
    find: (key): Service => ({ metadata: { namespace: 'shop', name: key.split('/')[1] ?? '' } }),
    recordEvent: ({ metadata }, { reason }) => events.push(`${metadata?.name} ${reason}`),
    clock: new SimulatedClock(),
    log: discardLog,
  });
  await marks.repair(new AbortController().signal);
  expect(written).toEqual(['a', 'b']);
  expect(events).toEqual(['a IdleMarkRepaired', 'b IdleMarkRepaired']);
});
