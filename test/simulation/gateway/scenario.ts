import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import type { GatewayWorld, GatewayWorldOptions } from './gateway-world.ts';

/** An operation that may be interrupted anywhere. */
export interface Scenario {
  /** Everything before the operation. Returns the process that will be interrupted. */
  prepare(world: GatewayWorld): Promise<SimulatedProcess>;
  /** Starts the operation. */
  operate(world: GatewayWorld): Promise<void>;
  /** The operation is a controller's start, from its first call. */
  readonly isStart?: boolean;
  /** The affected Services; all others keep their address and are served all the time. */
  readonly touches: readonly string[];
  /** Affected Services that keep their address. */
  readonly stay?: readonly string[];
  /** Options of its world, if not the default. */
  readonly world?: GatewayWorldOptions;
  /** Additional conditions, at the end and all the time. Each returns the violations. */
  readonly isDone?: (world: GatewayWorld) => readonly string[];
  readonly always?: (world: GatewayWorld) => readonly string[];
  /** Another controller waits for the lease: no new one has to be started. */
  readonly hasStandby?: boolean;
  /** Ports are deleted by an operator, not by Causeway. */
  readonly losesPorts?: boolean;
}

const nothing = () => [];

/** A controller that has served these Services. */
export async function withServices(
  world: GatewayWorld,
  ...desiredServices: readonly (readonly [string, readonly number[]])[]
): Promise<SimulatedProcess> {
  const process = world.startController();
  for (const [name, ports] of desiredServices) {
    await world.createService(name, { ports });
    await world.settle(nothing);
    await world.simulation.runFor(1_000);
  }
  return process;
}
