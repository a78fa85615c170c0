import type { Port } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';

/** The means of a node to hold connections to idle Services. */
export interface IdlingStage {
  /** How long connections are still held after the idle annotation was removed. */
  readonly graceMs: number;
  /** NFLOG group for packets of parked connections. */
  readonly logGroup: number;
  /**
   * Opens the listeners of an accepted Service, and returns them by `portId`. Returns undefined if
   * connections can't be accepted; they are parked then.
   */
  listen(service: Service): Promise<ReadonlyMap<string, Port> | undefined>;
}
