import type { Log } from '@causeway/base/observability/log';
import type { PodRunner } from '@causeway/fake-kubernetes/controllers/pod-runner';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import type { PlannedNode } from './plan.ts';
import type { Machine } from './ready-file.ts';

export interface GatewayPlace {
  readonly name: string;
  /** Its own addresses in the tenant's network, which the cloud has given it: one for each family. */
  readonly addresses: readonly string[];
  /** The id of its Neutron port there. */
  readonly port: string;
}

/** The part of an agent's settings that follows from where it is. */
export interface GatewaySettings {
  readonly nftables?: object;
  readonly [setting: string]: unknown;
}

/** What is under the jobs of a playground: machines on which packets flow, or none at all. */
export interface DataPath {
  readonly kind: 'kernel' | 'memory';
  readonly pods: PodRunner;
  /** For the ready file. */
  place(machine: string): Machine;
  /** The words before a command of ours that is to run on a machine. */
  words(machine: string): readonly string[];
  /** Translates the cloud's floating addresses from now on. */
  followCloud(cloud: EmbeddedOpenStack, log: Log): Promise<void>;
  /** Puts a gateway in its place. Answers the settings of its agent that follow from it. */
  addGateway(index: number, places: readonly GatewayPlace[]): Promise<GatewaySettings>;
  /** The settings of a node's proxy that follow from where it runs. */
  proxySettings(node: PlannedNode): Promise<{ readonly health: { readonly port: number } }>;
  /** Makes a port of the loopback address here reachable on a node. Answers by which port there. */
  bringPort(node: PlannedNode, port: number): Promise<number>;
  remove(): Promise<void>;
}
