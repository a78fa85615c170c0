import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import type { Fault } from '@causeway/fake-kubernetes/http/faults';

let world: World;
afterEach(() => world.stop());

/** Lets so many writes pass and breaks off everything after them, as if we had died there. */
class Guillotine {
  left = Number.POSITIVE_INFINITY;
  readonly hook = ({ method }: { readonly method: string }): Fault | undefined => {
    if (method === 'GET') return undefined;
    this.left -= 1;
    if (this.left > 0) return undefined;
    return { kind: this.left === 0 ? this.last : 'drop-before' };
  };
  last: 'drop-before' | 'drop-after' = 'drop-before';
}

const shape = async () => ({
  services: (await world.services()).map(({ metadata, spec }) => [metadata?.name, spec?.ports]),
  slices: (await world.slices()).map(({ metadata, endpoints }) => [metadata?.name, endpoints]),
});

test.each(['drop-before', 'drop-after'] as const)(
  'cut off anywhere (%s), the next cycle completes it and the one after writes nothing',
  async (last) => {
    const guillotine = new Guillotine();
    guillotine.last = last;
    world = await startWorld({}, guillotine.hook);
    const first = world.addLoadBalancer('demo', 'first', '10.10.0.5');
    // What a cycle has to do: make things, change them, move them, take them away.
    const steps = [
      () => undefined,
      () => world.addLoadBalancer('demo', 'second', '10.10.0.6'),
      () => Object.assign(first, { name: 'renamed' }),
      () => world.removeLoadBalancer(first.id),
    ];
    for (const step of steps) {
      step();
      for (let writes = 1; writes <= 4; writes += 1) {
        guillotine.left = writes;
        await world.once({}, true);
        guillotine.left = Number.POSITIVE_INFINITY;
      }
      await world.once({}, true);
      const reached = await shape();
      const again = await world.once({}, true);
      expect(again).toMatchObject({ written: 0, removed: 0, failures: 0, invalid: 0 });
      expect(await shape()).toEqual(reached);
    }
    expect((await world.services()).map(({ metadata }) => metadata?.name)).toEqual([
      expect.stringMatching(/^east-second-/),
    ]);
    expect(await world.slices()).toHaveLength(1);
  },
);
