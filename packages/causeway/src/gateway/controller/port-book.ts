import { ConfigMapBook, type BookFormat, type BookPlace } from './config-map-record.ts';

/**
 * The cluster's own record of the Neutron ports that it has: the marker of each port, written before the port is
 * created, or the ID of a port that another tool created. A port that is in the book and that no Service uses was
 * released, or its creation was cut off: it may be deleted. A port that is not in the book is an orphan. After etcd
 * was restored from a backup, ports that are newer than the backup are not in the book.
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
