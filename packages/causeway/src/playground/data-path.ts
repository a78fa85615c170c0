import type { Log } from '@causeway/base/observability/log';
import type { PodRunner } from '@causeway/fake-kubernetes/controllers/pod-runner';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import type { PlannedNode } from './plan.ts';
import type { Machine } from './ready-file.ts';

export interface GatewayPlace {
  readonly name: string;
  /** Its own addresses in the tenant's network, which the cloud assigned: one for each family. */
  readonly addresses: readonly string[];
  /** The id of its Neutron port there. */
  readonly port: string;
}

/** The part of an agent's settings that depends on its location. */
export interface GatewaySettings {
  readonly nftables?: object;
  readonly [setting: string]: unknown;
}

/** The network below the jobs of a playground: machines with real packets, or none at all. */
export interface DataPath {
  readonly kind: 'kernel' | 'memory';
  readonly pods: PodRunner;
  /** For the ready file. */
  place(machine: string): Machine;
  /** The command prefix that runs a Causeway command on a machine. */
  words(machine: string): readonly string[];
  /** Translates the cloud's floating IPs from now on. */
  followCloud(cloud: EmbeddedOpenStack, log: Log): Promise<void>;
  /** Creates the machine of a gateway. Returns the agent settings that depend on it. */
  addGateway(index: number, places: readonly GatewayPlace[]): Promise<GatewaySettings>;
  /** The settings of a node's proxy that depend on its location. */
  proxySettings(node: PlannedNode): Promise<{ readonly health: { readonly port: number } }>;
  /** Makes a port of this machine's loopback address reachable on a node. Returns the port there. */
  bringPort(node: PlannedNode, port: number): Promise<number>;
  remove(): Promise<void>;
}
