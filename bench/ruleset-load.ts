// A ruleset of the gateway in a namespace's kernel, and repeated changes of it.

import { addressFromInteger } from '../packages/base/src/address/address.ts';
import { parsePort } from '../packages/base/src/address/port.ts';
import { Layout } from '../packages/nftables/src/compile/layout.ts';
import { NetlinkDriver } from '../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type {
  Backend,
  LayoutSettings,
  VirtualService,
} from '../packages/nftables/src/compile/virtual-service.ts';
import type { Host } from '../test/services/namespaces.ts';
import { median } from './benchmark.ts';

export const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 0x5eed,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const port = parsePort(8080);

export const endpoint = (number: number): Backend => ({
  address: addressFromInteger(0x0a000000n + BigInt(number), 4),
  port,
});

/** Two backends each, all services different. */
export const service = (number: number, spare = 0): VirtualService => ({
  address: addressFromInteger(0xc6120000n + BigInt(number >> 1), 4),
  protocol: 'TCP',
  port: parsePort(80 + (number & 1)),
  dispatch: {
    kind: 'slots',
    backends: [endpoint(number * 2), endpoint(spare === 0 ? number * 2 + 1 : 0x800000 + spare)],
  },
});

export const services = (count: number) =>
  Array.from({ length: count }, (_, index) => service(index));

export interface Loaded {
  readonly layout: Layout;
  readonly driver: NetlinkDriver;
}

export async function load(host: Host, count: number): Promise<Loaded> {
  const driver = await NetlinkDriver.open({ table: settings.table, networkNamespace: host.path });
  const { layout, plan } = Layout.plan({ settings, services: services(count) });
  await driver.apply(plan.transaction);
  plan.accept();
  return { layout, driver };
}

const changesInARow = 200;
let nextSpare = 1;

/** The median time to plan, commit and accept another endpoint for one service, in milliseconds. */
export async function replaceEndpoints({ layout, driver }: Loaded): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < changesInARow; index += 1) {
    const changed = service(index % 10, nextSpare);
    nextSpare += 1;
    const started = performance.now();
    const plan = layout.plan({ set: [changed] });
    await driver.apply(plan.transaction);
    plan.accept();
    times.push(performance.now() - started);
  }
  return median(times);
}

export async function spawnedElement(host: Host, set: string, number: number): Promise<number> {
  const address = addressFromInteger(0x01000000n + BigInt(number), 4);
  const started = performance.now();
  await host.run('nft', 'add', 'element', 'inet', 'beside', set, `{ ${address} }`);
  return performance.now() - started;
}
