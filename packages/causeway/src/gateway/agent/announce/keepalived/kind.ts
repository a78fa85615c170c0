import path from 'node:path';
import type { Address } from '@causeway/base/address/address';
import type { ServableAddresses } from '../../apply/servable.ts';
import type { AnnouncerKind } from '../kinds.ts';
import { KeepalivedAnnouncer } from './keepalived-announcer.ts';
import { KeepalivedProcess } from './process.ts';
import {
  keepalivedFiles,
  keepalivedSettings,
  vrrpFilter,
  type KeepalivedSettings,
} from './vrrp-networks.ts';

export const keepalivedKind: AnnouncerKind = {
  check: (settings) => void keepalivedSettings(settings),
  layout: (settings) => ({ vrrp: vrrpFilter(keepalivedSettings(settings)) }),
  servable: (settings) => servableByKeepalived(keepalivedSettings(settings)),
  open: ({ settings, ...rest }, signal) =>
    KeepalivedAnnouncer.open(
      {
        ...rest,
        settings: keepalivedSettings(settings),
        start: settings.addresses.start,
        announcedFile: path.join(settings.runtimeDirectory, 'announced.json'),
      },
      signal,
    ),
  leftRunning({ runtimeDirectory, addresses }, clock) {
    const files = keepalivedFiles(runtimeDirectory);
    const process = new KeepalivedProcess(files, addresses.start, clock);
    return { drain: (signal) => process.stop(signal) };
  },
};

function servableByKeepalived({ networks }: KeepalivedSettings): ServableAddresses {
  const taken = new Map<Address, string>();
  for (const { name, families } of networks) {
    for (const { source, peers, anchor, routes } of families) {
      taken.set(source, `this gateway's own in the ${name} network`);
      for (const peer of peers) taken.set(peer, `another gateway's own in the ${name} network`);
      taken.set(anchor, 'the address in VRRP adverts');
      for (const route of routes) taken.set(route, 'a route that moves with the gateway');
    }
  }
  const external = networks.find(({ name }) => name === 'external');
  return { families: new Set(external?.families.map(({ family }) => family)), taken };
}
