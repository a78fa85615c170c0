import { portsAnnotation } from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { driftEveryMs, type GatewayWorld } from './gateway-world.ts';
import { portsOf } from './invariants.ts';
import { withServices, type Scenario } from './scenario.ts';

/** The controller is stopped, and the changes happen without it. */
async function restarted(
  world: GatewayWorld,
  change: () => Promise<void>,
): Promise<SimulatedProcess> {
  const first = await withServices(world, ['web', [80]], ['mail', [25]]);
  first.kill();
  await change();
  return world.startController();
}

const idle = () => Promise.resolve();

export const scenarios = {
  'a Service is mapped to a new port': {
    prepare: (world) => withServices(world, ['mail', [25, 80]]),
    operate: (world) => world.createService('web', { ports: [80] }),
    touches: ['web'],
  },
  'a Service is mapped to an existing port': {
    prepare: (world) => withServices(world, ['mail', [25]]),
    operate: (world) => world.createService('web', { ports: [80] }),
    touches: ['web'],
  },
  'a Service changes its ports and stays': {
    prepare: (world) => withServices(world, ['mail', [25]], ['web', [80]]),
    operate: (world) => world.patchService('web', { ports: [{ name: 'p81', port: 81 }] }),
    touches: ['web'],
    stay: ['web'],
  },
  'a Service changes its ports and has to move': {
    prepare: (world) => withServices(world, ['mail', [25]], ['web', [80]]),
    operate: (world) => world.patchService('web', { ports: [{ name: 'p25', port: 25 }] }),
    touches: ['web'],
  },
  'a Service is deleted, and its port with it': {
    prepare: (world) => withServices(world, ['mail', [80]], ['web', [80]]),
    operate: (world) => world.deleteService('web'),
    touches: ['web'],
  },
  'a Service is deleted, and another stays on its port': {
    prepare: (world) => withServices(world, ['mail', [25]], ['web', [80]]),
    operate: (world) => world.deleteService('web'),
    touches: ['web'],
  },
  'a managed Service can no longer be managed': {
    prepare: (world) => withServices(world, ['mail', [80]], ['web', [80]]),
    operate: (world) => world.patchService('web', { type: 'ClusterIP' }),
    touches: ['web'],
  },
  'a gateway rejects a Service': {
    prepare: async (world) => {
      const process = await withServices(world, ['mail', [25]]);
      const [address] = portsOf(world).values();
      world.agents.get('g1')?.dislikes.add(`${address}:80/TCP`);
      return process;
    },
    operate: async (world) => {
      await world.createService('web', { ports: [80] });
      await world.simulation.runFor(1_000);
      world.agents.get('g1')?.dislikes.clear();
      await world.patchService('web', { ports: [{ name: 'p81', port: 81 }] });
    },
    touches: ['web'],
  },
  'a controller starts and nothing is to do': {
    prepare: (world) => restarted(world, idle),
    operate: idle,
    isStart: true,
    touches: [],
  },
  'a controller starts after Services were created and deleted': {
    prepare: (world) =>
      restarted(world, async () => {
        await world.createService('late', { ports: [80] });
        await world.deleteService('web');
        await world.patchService('mail', { type: 'ClusterIP' });
      }),
    operate: idle,
    isStart: true,
    touches: ['late', 'mail', 'web'],
  },
  "a controller starts after a user copied another Service's annotations": {
    prepare: async (world) => {
      const first = await withServices(world, ['older', [80]], ['victim', [80]]);
      first.kill();
      const place = world.service('victim')?.metadata?.annotations?.[portsAnnotation] ?? '';
      const name = { namespace: 'default', name: 'older' };
      await world.annotateService(name, { [portsAnnotation]: place });
      return world.startController();
    },
    operate: idle,
    isStart: true,
    touches: ['older'],
    stay: ['older'],
  },
  'a port and its floating IP are lost': {
    prepare: async (world) => {
      const process = await withServices(world, ['mail', [25]], ['web', [25]]);
      await world.simulation.runFor(driftEveryMs - world.simulation.clock.monotonic() - 2_000);
      return process;
    },
    operate: async (world) => {
      const [id] = portsOf(world).keys();
      await world.losePort(id ?? '');
    },
    touches: ['mail', 'web'],
    losesPorts: true,
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;
