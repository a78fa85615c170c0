import { expect, test } from 'vitest';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { GatewayWorld } from './gateway-world.ts';
import { announcedWithoutPort } from './invariants.ts';

const always = (world: GatewayWorld) => () => announcedWithoutPort(world);

/** Two controllers; the first one leads and serves some Services. */
async function pair(seed: number) {
  const world = await GatewayWorld.create(seed);
  await world.ensureNamespace('kube-system');
  const leader = world.startCandidate();
  for (const [name, port] of [
    ['web', 80],
    ['mail', 25],
    ['other', 80],
  ] as const) {
    await world.createService(name, { ports: [port] });
  }
  await world.settle(always(world));
  const second = world.startCandidate();
  await world.simulation.runFor(30_000);
  return { world, leader, second };
}

const isWrite = (label: string): boolean => /^(POST|PUT|PATCH|DELETE) /.test(label);
/**
 * A controller without work may only write its own lease and the states of the gateways, and request its
 * token.
 */
const changes = ({ callLabels }: SimulatedProcess): readonly string[] =>
  callLabels.filter(
    (label) =>
      isWrite(label) &&
      !/ (leases|configmaps) | identity auth\/tokens$/.test(`${label} `.trimEnd()),
  );
const hasPushed = ({ callLabels }: SimulatedProcess): boolean =>
  ['g1', 'g2'].every((name) => callLabels.includes(`PUSH agent ${name}`));

test('the second one does nothing while the first one leads', async () => {
  const { second } = await pair(1);
  expect(changes(second.process)).toEqual([]);
  expect(hasPushed(second.process)).toBe(false);
});

test('when the leader is killed, the second one leads within seconds and changes nothing', async () => {
  for (let seed = 0; seed < 10; seed += 1) {
    const { world, leader, second } = await pair(seed);
    const before = JSON.stringify(world.services());
    const died = world.simulation.clock.monotonic();
    leader.process.kill();
    await world.simulation.runUntil(() => hasPushed(second.process));
    // The lease lasts 15 s, and no other controller may take it sooner.
    expect(world.simulation.clock.monotonic() - died).toBeLessThan(20_000);
    await world.simulation.runFor(10_000);
    await world.settle(always(world));
    expect(changes(second.process)).toEqual([]);
    expect(JSON.stringify(world.services())).toBe(before);
  }
});

test('a stopped leader releases the lease: the second one leads at once', async () => {
  const { world, leader, second } = await pair(2);
  const stopped = world.simulation.clock.monotonic();
  leader.stop();
  await world.simulation.runUntil(() => hasPushed(second.process));
  expect(world.simulation.clock.monotonic() - stopped).toBeLessThan(3_000);
  await world.simulation.runFor(10_000);
  expect(changes(second.process)).toEqual([]);
});

test('when a leader is killed during an operation, the second one finishes it', async () => {
  for (let call = 1; call <= 12; call += 1) {
    const { world, leader, second } = await pair(call);
    leader.process.killAt(leader.process.calls + call, call % 2 === 0 ? 'before' : 'after');
    await world.createService('late', { ports: [80] });
    await world.simulation.runUntil(() => leader.process.isKilled);
    await world.simulation.runUntil(() => hasPushed(second.process));
    await world.settle(always(world));
  }
});

/** All its calls except those for the lease and its own login. */
const said = ({ callLabels }: SimulatedProcess): readonly string[] =>
  callLabels.filter((label) => /^(PUSH|HAND) /.test(label) || isWrite(label)).filter(isOfWork);
const isOfWork = (label: string): boolean => !/ leases | identity auth\/tokens$/.test(label);

test('a leader that was paused during an operation sends nothing when it resumes', async () => {
  for (let call = 1; call <= 24; call += 1) {
    const { world, leader, second } = await pair(call);
    const before = leader.process.calls;
    await world.createService('late', { ports: [80] });
    await world.deleteService('web');
    await world.simulation.runUntil(() => leader.process.calls >= before + call);
    leader.process.pause();
    await world.simulation.runUntil(() => hasPushed(second.process));
    // The second one now does something else than the first one intended.
    await world.patchService('mail', { ports: [{ name: 'p80', port: 80 }] });
    await world.deleteService('other');
    await world.settle(always(world));
    const then = said(leader.process).length;
    leader.process.resume();
    // It becomes a candidate again.
    await world.simulation.runFor(30_000);
    expect(leader.process.isKilled).toBe(false);
    expect(said(leader.process).slice(then), `paused at its call ${call}`).toEqual([]);
    await world.simulation.runFor(10_000);
    await world.settle(always(world));
  }
});
