import fs from 'node:fs/promises';
import path from 'node:path';
import { OutsideWorld } from '../cluster/gateway/outside-world.ts';
import { gateways, secret, Topology, type GatewayName } from '../kernel/gateway/topology.ts';
import { logTail } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';
import { openClients, type Clients } from './clients.ts';
import { prepareController, withMovableClock } from './controller-unit.ts';
import type { EchoGate } from './echo-gate.ts';
import type { Gate } from './gate.ts';
import { makeNetworks } from './networks.ts';
import { firstTargetPort, podNames, targetPorts } from './plan.ts';
import { mountSmallDisk, unmountSmallDisk, unmountStaleDisks } from './small-disk.ts';
import { startSurroundings, type Surroundings } from './surroundings.ts';
import { Unit } from './unit.ts';

const controllerNames = ['controller-1', 'controller-2'] as const;

/** Everything that runs, and the places where it can be made to fail. */
export class System {
  readonly topology: Topology;
  readonly surroundings: Surroundings;
  readonly clients: Clients;
  readonly world: OutsideWorld;
  readonly units = new Map<string, Unit>();
  /** By name: `controller-1 to kubernetes`. */
  readonly gates = new Map<string, readonly Gate[]>();
  readonly echoes = new Map<string, readonly EchoGate[]>();

  private constructor(
    topology: Topology,
    surroundings: Surroundings,
    clients: Clients,
    world: OutsideWorld,
  ) {
    this.topology = topology;
    this.surroundings = surroundings;
    this.clients = clients;
    this.world = world;
  }

  static async start(on: 'embedded' | 'real'): Promise<System> {
    await unmountStaleDisks();
    const topology = await Topology.start();
    const surroundings = await startSurroundings(on).catch(async (error) => {
      await topology.stop();
      throw error;
    });
    const clients = await openClients(surroundings, topology.directory);
    const world = await OutsideWorld.build(topology, clients.neutron);
    const system = new System(topology, surroundings, clients, world);
    try {
      await system.#startParts();
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const unit of this.units.values()) await unit.end();
    for (const gate of [...this.gates.values()].flat()) await gate.close();
    for (const echo of [...this.echoes.values()].flat()) await echo.close();
    for (const name of gateways) await unmountSmallDisk(this.stateDirectory(name));
    await this.clients.close();
    await this.surroundings.stop();
    await this.topology.stop();
  }

  unit(name: string): Unit {
    const unit = this.units.get(name);
    if (unit === undefined) throw new Error(`there is no ${name}`);
    return unit;
  }

  clockFile(name: string): string {
    return path.join(this.topology.directory, name, 'clock');
  }

  stateDirectory(name: GatewayName): string {
    return path.join(this.topology.directory, name, 'state');
  }

  async #startParts(): Promise<void> {
    const { topology, surroundings, clients } = this;
    const networks = await makeNetworks(clients.neutron);
    await Promise.all(podNames.map((pod) => this.#startPod(pod)));
    for (const name of gateways) {
      await mountSmallDisk(this.stateDirectory(name));
      const config = await topology.writeConfig(name, {});
      const words = withMovableClock(this.clockFile(name), ['agent', 'run', '--config', config]);
      const start = () => topology.startProgram(name, `agent-${name}`, words);
      this.units.set(name, new Unit(name, start));
      this.unit(name).start();
    }
    await waitFor('a master', () => topology.master());
    const secretFile = path.join(topology.directory, 'controller.secret');
    await fs.writeFile(secretFile, secret.toString('base64'));
    const agents = new Map(gateways.map((name) => [name, topology.runtimeFile(name, 'api.sock')]));
    for (const name of controllerNames) {
      const plan = { name, directory: topology.directory, surroundings, networks };
      const { unit, gates, echoes } = await prepareController({ ...plan, secretFile, agents });
      this.units.set(name, unit);
      this.echoes.set(`${name} to openstack`, echoes);
      for (const [target, all] of gates) this.gates.set(`${name} to ${target}`, all);
      unit.start();
    }
  }

  async #startPod(pod: string): Promise<void> {
    const script = path.join(import.meta.dirname, 'programs', 'pod.ts');
    const words = [script, pod, String(firstTargetPort), String(targetPorts)];
    this.topology.start(pod, `pod-${pod}`, words);
    const log = this.topology.log(`pod-${pod}`);
    await waitFor(`the pod ${pod}`, () => logTail(log).includes('ready'));
  }
}
