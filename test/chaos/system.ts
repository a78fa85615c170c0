import fs from 'node:fs/promises';
import path from 'node:path';
import { OutsideWorld } from '../cluster/gateway/outside-world.ts';
import { gateways, secret, Topology, type GatewayName } from '../kernel/gateway/topology.ts';
import { logTail } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';
import { openClients, type Clients } from './clients.ts';
import { controllerUnit, discoveryUnit } from './jobs.ts';
import { withMovableClock } from './job-unit.ts';
import { startLedger, type LedgerServers } from './ledger.ts';
import type { Ground } from './fault-kinds.ts';
import { makeNetworks } from './networks.ts';
import { makeNodeProxy, type NodeProxy } from './node-proxy.ts';
import { paces, type Pace } from './pace.ts';
import { PortSecurity } from '../kernel/gateway/port-security.ts';
import { Sleeper, sleeperName, sleeperPod, sleeperPort } from './sleeper.ts';
import { firstTargetPort, podNames, targetPorts } from './imagined-user.ts';
import { mountSmallDisk, unmountSmallDisk, unmountStaleDisks } from './small-disk.ts';
import { startSurroundings, type Surroundings } from './surroundings.ts';
import { Unit } from './unit.ts';
import { Ways } from './ways.ts';

const controllerNames = ['controller-1', 'controller-2'] as const;

/** All running components, and the places where faults can be injected. */
export class System {
  readonly topology: Topology;
  readonly surroundings: Surroundings;
  readonly clients: Clients;
  readonly world: OutsideWorld;
  readonly units = new Map<string, Unit>();
  readonly ways: Ways;
  readonly security: PortSecurity;
  readonly ledger: LedgerServers;
  readonly pace: Pace;
  readonly sleeper: Sleeper;
  /** Cluster address. */
  readonly sleeperAddress: string;
  #proxy: NodeProxy | undefined;

  private constructor(parts: Parts, ground: Ground) {
    this.topology = parts.topology;
    this.surroundings = parts.surroundings;
    this.ledger = parts.ledger;
    this.clients = parts.clients;
    this.world = parts.world;
    this.sleeper = parts.sleeper;
    this.sleeperAddress = parts.sleeperAddress;
    this.pace = paces[ground];
    this.ways = new Ways(parts.surroundings);
    this.security = new PortSecurity(parts.topology.network);
  }

  static async start(on: Ground): Promise<System> {
    await unmountStaleDisks();
    const undo: (() => Promise<void>)[] = [];
    try {
      const topology = await Topology.start();
      undo.push(() => topology.stop());
      const surroundings = await startSurroundings(on);
      undo.push(() => surroundings.stop());
      const ledger = await startLedger(on, topology.directory);
      undo.push(() => ledger.stop());
      const clients = await openClients(surroundings, topology.directory);
      undo.push(() => clients.close());
      const world = await OutsideWorld.build(topology, clients.neutron);
      const { sleeper, address: sleeperAddress } = await Sleeper.start(clients.kube);
      undo.push(() => sleeper.stop());
      const parts = { topology, surroundings, ledger, clients, world, sleeper, sleeperAddress };
      const system = new System(parts, on);
      undo.push(() => system.#stopParts());
      await system.#startParts();
      return system;
    } catch (error) {
      for (const step of undo.reverse()) await step();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#stopParts();
    await this.sleeper.stop();
    await this.clients.close();
    await this.ledger.stop();
    await this.surroundings.stop();
    await this.topology.stop();
  }

  async #stopParts(): Promise<void> {
    for (const unit of this.units.values()) await unit.end();
    await this.#proxy?.close();
    await this.ways.close();
    for (const name of gateways) await unmountSmallDisk(this.stateDirectory(name));
  }

  unit(name: string): Unit {
    const unit = this.units.get(name);
    if (unit === undefined) throw new Error(`there is no ${name}`);
    return unit;
  }

  clockFile(name: string): string {
    return path.join(this.topology.directory, name, 'clock');
  }

  /** Small file system of a process. */
  disk(name: string): string {
    return name.startsWith('ipam') ? this.ledger.disk : this.stateDirectory(name as GatewayName);
  }

  stateDirectory(name: GatewayName): string {
    return path.join(this.topology.directory, name, 'state');
  }

  async #startParts(): Promise<void> {
    const { topology, clients, ways, ledger, pace } = this;
    const networks = await makeNetworks(clients.neutron);
    await Promise.all(
      podNames.map((pod) => this.#startPod(pod, pod, firstTargetPort, targetPorts)),
    );
    await this.#startPod(sleeperName, sleeperPod, sleeperPort, 1);
    this.#proxy = await makeNodeProxy(topology, ways, clients.kube);
    for (const name of gateways) {
      await mountSmallDisk(this.stateDirectory(name));
      const config = await topology.writeConfig(name, {});
      const words = withMovableClock(this.clockFile(name), ['agent', 'run', '--config', config]);
      const start = () => topology.startProgram(name, `agent-${name}`, words);
      this.units.set(name, new Unit(name, start));
      this.unit(name).start();
    }
    await waitFor('an active gateway', () => topology.active());
    const secretFile = path.join(topology.directory, 'controller.secret');
    await fs.writeFile(secretFile, secret.toString('base64'));
    const agents = new Map(gateways.map((name) => [name, topology.runtimeFile(name, 'api.sock')]));
    const { directory } = topology;
    const plan = { directory, pace, ways, networks, ledger, secretFile, agents };
    const controllers = controllerNames.map((name) => controllerUnit(name, plan));
    const jobs = [...(await Promise.all([...controllers, discoveryUnit(plan)])), this.#proxy.unit];
    for (const unit of jobs) unit.start();
    for (const unit of [...jobs, ...ledger.units]) this.units.set(unit.name, unit);
    await waitFor('the rules of the proxy', () => this.#proxy?.serves(this.sleeperAddress));
  }

  /** Listeners in the namespace of a pod, under their own name. */
  async #startPod(name: string, pod: string, firstPort: number, count: number): Promise<void> {
    const script = path.join(import.meta.dirname, 'programs', 'pod.ts');
    this.topology.start(pod, `pod-${name}`, [script, pod, String(firstPort), String(count)]);
    const log = this.topology.log(`pod-${name}`);
    await waitFor(`the pod ${name}`, () => logTail(log).includes('ready'));
  }
}

interface Parts {
  readonly topology: Topology;
  readonly surroundings: Surroundings;
  readonly ledger: LedgerServers;
  readonly clients: Clients;
  readonly world: OutsideWorld;
  readonly sleeper: Sleeper;
  readonly sleeperAddress: string;
}
