import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import type { GatewayWorld, GatewayWorldOptions } from './gateway-world.ts';

/** An operation that may be cut off anywhere. */
export interface Scenario {
  /** Everything before the operation. Answers with the process that will be cut off. */
  prepare(world: GatewayWorld): Promise<SimulatedProcess>;
  /** What begins the operation. */
  operate(world: GatewayWorld): Promise<void>;
  /** The operation is a controller's start, from its very first call. */
  readonly isStart?: boolean;
  /** The Services that it is about; all others keep their address and are served all the time. */
  readonly touches: readonly string[];
  /** Those of them that keep their address all the same. */
  readonly stay?: readonly string[];
  /** The world that it takes place in, where it is not the plain one. */
  readonly world?: GatewayWorldOptions;
  /** What must be besides, in the end and all the time. Each names what is not so. */
  readonly isDone?: (world: GatewayWorld) => readonly string[];
  readonly always?: (world: GatewayWorld) => readonly string[];
  /** Another controller waits for the lease: nobody has to start one. */
  readonly hasStandby?: boolean;
  /** Ports vanish under the gateways, by the operator's hand and not by ours. */
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
