import { ConfigMapRecords, type RecordFormat, type RecordPlace } from './config-map-records.ts';

/**
 * The cluster's own record of its Neutron ports: the marker of each port, written before the port is created,
 * or the ID of a port that another tool created. A recorded port that no Service uses was released, or its
 * creation was interrupted: it may be deleted. A port without a record is an orphan. After a restore of etcd
 * from a backup, ports newer than the backup are not in the record.
 */
export interface PortRecords {
  read(signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Resolves when the entries are written. */
  enter(entries: readonly string[]): Promise<void>;
  strike(entries: readonly string[]): Promise<void>;
}

/** The ConfigMap beside the controller's lease. */
export const portRecordsName = 'causeway-gateway-ports';

const portFormat: RecordFormat<string> = {
  name: portRecordsName,
  value: 'created',
  parse: (key) => key,
  format: (entry) => entry,
};

export function configMapPortRecords(place: RecordPlace): PortRecords {
  return new ConfigMapRecords(place, portFormat);
}
