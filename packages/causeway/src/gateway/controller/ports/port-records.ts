import { ConfigMapBook, type BookFormat, type BookPlace } from './config-map-records.ts';

/**
 * The cluster's own record of its Neutron ports: the marker of each port, written before the port is created,
 * or the ID of a port that another tool created. A recorded port that no Service uses was released, or its
 * creation was interrupted: it may be deleted. A port without a record is an orphan. After a restore of etcd
 * from a backup, ports newer than the backup are not in the record.
 */
export interface PortBook {
  read(signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Resolves when the entries are written. */
  enter(entries: readonly string[]): Promise<void>;
  strike(entries: readonly string[]): Promise<void>;
}

/** The ConfigMap beside the controller's lease. */
export const portBookName = 'causeway-gateway-ports';

const portFormat: BookFormat<string> = {
  name: portBookName,
  value: 'created',
  parse: (key) => key,
  format: (entry) => entry,
};

export function configMapPortBook(place: BookPlace): PortBook {
  return new ConfigMapBook(place, portFormat);
}
