import fs from 'node:fs/promises';
import { faults as gatewayFaults } from '../kernel/gateway/faults.ts';
import type { GatewayName } from '../kernel/gateway/topology.ts';
import type { FaultName } from './fault-kinds.ts';
import type { GateMode } from './gate.ts';
import { clearDisk, fillDisk } from './small-disk.ts';
import type { System } from './system.ts';

/** Causes a fault. The returned function ends it. */
type Override = (system: System, place: string) => Promise<() => Promise<void>>;

const nothing = () => Promise.resolve();
const hourMs = 3_600_000;

/** For faults without a duration. */
function moment(strike: (system: System, place: string) => unknown): Override {
  return async (system, place) => {
    await strike(system, place);
    return nothing;
  };
}

function gateIn(mode: GateMode): Override {
  return (system, place) => {
    const gates = system.ways.gates.get(place) ?? [];
    for (const gate of gates) gate.set(mode);
    return Promise.resolve(() => Promise.resolve(gates.forEach((gate) => gate.set('open'))));
  };
}

export const faultActions: Readonly<Record<FaultName, Override>> = {
  killed: moment((system, place) => system.unit(place).kill()),
  paused: (system, place) => {
    system.unit(place).pause();
    return Promise.resolve(() => Promise.resolve(system.unit(place).resume()));
  },
  stopped: async (system, place) => {
    await system.unit(place).stop();
    return () => Promise.resolve(system.unit(place).start());
  },
  'clock moved': async (system, place) => {
    // One clock goes ahead and the other behind.
    const offset = place.endsWith('1') ? hourMs : -hourMs;
    await fs.writeFile(system.clockFile(place), String(offset));
    return () => fs.writeFile(system.clockFile(place), '0');
  },
  cut: moment((system, place) => system.ways.gates.get(place)?.forEach((gate) => gate.cut())),
  refused: gateIn('refused'),
  stalled: gateIn('stalled'),
  delayed: gateIn('delayed'),
  duplicated: (system, place) => {
    const echoes = system.ways.echoes.get(place) ?? [];
    for (const each of echoes) each.echo(true);
    return Promise.resolve(() => Promise.resolve(echoes.forEach((each) => each.echo(false))));
  },
  'disk full': async (system, place) => {
    const directory = system.disk(place);
    await fillDisk(directory);
    return () => clearDisk(directory);
  },
  restarted: moment((system) => system.surroundings.restartKubernetes()),
  'history gone': moment((system) => system.surroundings.dropHistory()),
  'member killed': async (system, place) => {
    const { etcd } = system.ledger;
    const member = Number(place.at(-1));
    etcd?.signal(member, 'SIGKILL');
    return async () => etcd?.restart(member);
  },
  compacted: moment((system) => system.ledger.etcd?.compact()),
  'tokens revoked': moment((system) => system.surroundings.revokeTokens()),
  suspended: (system) => system.surroundings.suspendCloud(),
  'keepalived killed': moment(({ topology }, place) =>
    gatewayFaults
      .find(({ name }) => name === 'keepalived is killed')
      ?.strike(topology, place as GatewayName),
  ),
  'link down': async ({ topology: { network } }, place) => {
    const [gateway = '', side = ''] = place.split(' ');
    const port = `${gateway}-${side.slice(0, 3)}`;
    await network.ip('switch', `link set ${port} down`);
    return async () => void (await network.ip('switch', `link set ${port} up`));
  },
  hung: ({ topology }, place) => topology.network.freeze(place),
  'power cut': async (system, place) => {
    const gateway = place as GatewayName;
    // Its service manager has no power either.
    const ended = system.unit(gateway).end();
    await system.topology.cutPower(gateway);
    await ended;
    return async () => {
      await system.topology.restoreMachine(gateway);
      await system.world.connect(gateway);
      system.unit(gateway).start();
    };
  },
};
