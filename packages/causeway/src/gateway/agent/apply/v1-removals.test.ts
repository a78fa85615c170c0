import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { frontendKey, makeFrontend } from '../../protocol/frontend.ts';
import { v1Digest } from '../../protocol/v1-digest.ts';
import { emptyState, type GatewayState } from '../store/state.ts';
import { dueV1Removals, V1Removals, v1RemovalAfterMs } from './v1-removals.ts';

const limits = { share: 0.5, count: 20 };
const kept = { generation: 1, reason: 'the update removes too much', isWithheld: true };

function stateOf(served: number, withheld: number, digest = v1Digest(1, 'x')): GatewayState {
  const frontends = Array.from({ length: served }, (_, index) =>
    makeFrontend({
      address: parseAddress(`192.0.2.${index + 1}`),
      protocol: 'TCP',
      port: parsePort(80),
      destinations: [],
    }),
  ).map((frontend) => [frontendKey(frontend), frontend] as const);
  return {
    ...emptyState,
    digest,
    frontends: new Map(frontends),
    kept: new Map(frontends.slice(0, withheld).map(([key]) => [key, kept])),
  };
}

test.each([
  ['after a push with other frontends', stateOf(61, 60), v1RemovalAfterMs, 60],
  ['not before the time has passed', stateOf(61, 60), v1RemovalAfterMs - 1, 0],
  ['not after an empty push that exceeds the limits', stateOf(60, 60), 1_000_000, 0],
  ['after an empty push within the limits', stateOf(20, 20), v1RemovalAfterMs, 20],
  ['never if a controller of /v2 can confirm them', stateOf(61, 60, 'v2'), 1_000_000, 0],
])('withheld removals apply %s', (_name, state, withheldForMs, due) => {
  expect(dueV1Removals(state, withheldForMs, limits).size).toBe(due);
});

test('the time starts again when other removals are withheld', async () => {
  const clock = new SimulatedClock();
  const removals = new V1Removals(clock, limits);
  expect(removals.due(stateOf(10, 2)).size).toBe(0);
  await clock.advance(v1RemovalAfterMs - 1);
  expect(removals.due(stateOf(10, 3)).size).toBe(0);
  await clock.advance(v1RemovalAfterMs - 1);
  expect(removals.due(stateOf(10, 3)).size).toBe(0);
  await clock.advance(1);
  expect(removals.due(stateOf(10, 3)).size).toBe(3);
});
