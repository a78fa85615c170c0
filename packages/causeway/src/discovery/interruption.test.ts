import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import type { Fault } from '@causeway/fake-kubernetes/http/faults';

let world: World;
afterEach(() => world.stop());

/** Lets a number of writes pass and fails all later ones, as if the process had died there. */
class WriteLimit {
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
  'the next cycle completes an interruption anywhere (%s), and the one after writes nothing',
  async (last) => {
    const writeLimit = new WriteLimit();
    writeLimit.last = last;
    world = await startWorld({}, writeLimit.hook);
    const first = world.addLoadBalancer('demo', 'first', '10.10.0.5');
    // The kinds of work of a cycle: create, change, move, delete.
    const steps = [
      () => undefined,
      () => world.addLoadBalancer('demo', 'second', '10.10.0.6'),
      () => Object.assign(first, { name: 'renamed' }),
      () => world.removeLoadBalancer(first.id),
    ];
    for (const step of steps) {
      step();
      for (let writes = 1; writes <= 4; writes += 1) {
        writeLimit.left = writes;
        await world.once({}, true);
        writeLimit.left = Number.POSITIVE_INFINITY;
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
