import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseAddress, type Family } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Alarms } from '../alarms.ts';
import { LinkWatch, type LinkWatchOptions } from './link-watch.ts';
import type { NetworkTexts } from './read-links.ts';

const { signal } = new AbortController();
let directory = '';
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-links-'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

/** A machine with one link, in the output format of `ip`. */
class Machine {
  isUp = true;
  carrierChanges = 2;
  routes: Record<Family, string[]> = {
    4: ['default via 10.77.0.1 dev ext', '10.77.0.0/16 dev ext proto kernel scope link'],
    6: ['default via 2001:db8:77::1 dev ext metric 1024 pref medium'],
  };
  addresses = ['10.77.0.11/16', '2001:db8:77::11/64', '10.77.1.1/32'];
  readonly commands: string[] = [];

  texts(): NetworkTexts {
    const flags = this.isUp ? ['UP', 'LOWER_UP'] : [];
    const stats64 = { tx: { carrier_changes: this.carrierChanges } };
    const info = this.addresses.map((each) => {
      const [local = '', prefix = ''] = each.split('/');
      return { local, prefixlen: Number(prefix), scope: 'global' };
    });
    const links = JSON.stringify([{ ifname: 'ext', flags, stats64 }]);
    return {
      links,
      linksAfter: links,
      addresses: JSON.stringify([{ ifname: 'ext', addr_info: info }]),
      routes: { 4: this.routes[4].join('\n'), 6: this.routes[6].join('\n') },
    };
  }

  /** Simulates the kernel when the link goes down and up. */
  bounce(): void {
    this.carrierChanges += 2;
    this.routes = { 4: this.routes[4].filter((each) => each.includes('kernel')), 6: [] };
    this.addresses = this.addresses.filter((each) => !each.includes(':'));
  }
}

function watch(machine: Machine, change: Partial<LinkWatchOptions> = {}) {
  const alarms = new Alarms(discardLog, noMetrics);
  const own = ['10.77.0.11', '2001:db8:77::11'].map(parseAddress);
  const linkWatch = new LinkWatch({
    alarms,
    clock: new SimulatedClock(),
    log: discardLog,
    metrics: noMetrics,
    links: [{ name: 'ext', own }],
    file: path.join(directory, 'links.json'),
    restores: true,
    needsDefaultRoute: true,
    servedFamilies: () => new Set<Family>([4, 6]),
    readNetwork: () => Promise.resolve(machine.texts()),
    runIp: (args) => {
      machine.commands.push(args.join(' '));
      const [first = '', , , ...rest] = args;
      if (first === 'address') machine.addresses.push(args[2] ?? '');
      else machine.routes[first === '-4' ? 4 : 6].push(rest.join(' '));
      return Promise.resolve();
    },
    ...change,
  });
  return { linkWatch, alarms };
}

test('keeps the record of a link that goes down while it is read', async () => {
  const machine = new Machine();
  let before: NetworkTexts | undefined;
  const { linkWatch } = watch(machine, {
    readNetwork: () => {
      const now = machine.texts();
      const texts = { ...now, links: before?.links ?? now.links };
      before = undefined;
      return Promise.resolve(texts);
    },
  });
  await linkWatch.check(signal);
  before = machine.texts();
  machine.bounce();
  await linkWatch.check(signal);
  expect(machine.commands).toEqual([]);
  await linkWatch.check(signal);
  expect(machine.commands.join()).toContain('-6 route replace default via 2001:db8:77::1');
  expect(linkWatch.illness).toBeUndefined();
});

test('restores only own addresses and static routes of a link that went down and up', async () => {
  const machine = new Machine();
  const { linkWatch } = watch(machine);
  await linkWatch.check(signal);
  machine.bounce();
  machine.addresses = machine.addresses.filter((each) => each !== '10.77.1.1/32');
  await linkWatch.check(signal);
  expect(machine.commands).toEqual([
    'address replace 2001:db8:77::11/64 dev ext',
    '-4 route replace default via 10.77.0.1 dev ext',
    '-6 route replace default via 2001:db8:77::1 metric 1024 pref medium dev ext',
  ]);
  expect(linkWatch.illness).toBeUndefined();
});

test("reports a route that an administrator removed while clients need it, but doesn't restore it", async () => {
  const machine = new Machine();
  const { linkWatch } = watch(machine);
  await linkWatch.check(signal);
  machine.routes[6] = [];
  await linkWatch.check(signal);
  expect(machine.commands).toEqual([]);
  expect(linkWatch.illness).toContain('IPv6 default route is missing');
});

test.each([
  ['no client is served in its family', { servedFamilies: () => new Set<Family>([4]) }],
  ['the settings disable it', { needsDefaultRoute: false }],
])('reports no missing default route when %s', async (_, change) => {
  const machine = new Machine();
  const { linkWatch } = watch(machine, change);
  await linkWatch.check(signal);
  machine.routes[6] = [];
  await linkWatch.check(signal);
  expect(linkWatch.illness).toBeUndefined();
});

test('needs no default route in a network that never had one', async () => {
  const machine = new Machine();
  machine.routes = { 4: [], 6: [] };
  const { linkWatch } = watch(machine);
  await linkWatch.check(signal);
  expect(linkWatch.illness).toBeUndefined();
});

test('restores lost routes after the agent restarted during the outage', async () => {
  const machine = new Machine();
  await watch(machine).linkWatch.check(signal);
  machine.bounce();
  const { linkWatch } = watch(machine);
  await linkWatch.load();
  await linkWatch.check(signal);
  expect(machine.commands).toHaveLength(3);
});

test('reports missing routes if restoring is off', async () => {
  const machine = new Machine();
  const { linkWatch } = watch(machine, { restores: false });
  await linkWatch.check(signal);
  machine.bounce();
  await linkWatch.check(signal);
  expect(machine.commands).toEqual([]);
  expect(linkWatch.illness).toContain('2001:db8:77::11 is missing on ext');
  machine.addresses.push('2001:db8:77::11/64');
  await linkWatch.check(signal);
  expect(linkWatch.illness).toBe('ext lost the route default via 10.77.0.1 when it went down');
});

test('raises only the link alarm for a link that is down, because the announcer yields', async () => {
  const machine = new Machine();
  const { linkWatch, alarms } = watch(machine);
  await linkWatch.check(signal);
  machine.bounce();
  machine.isUp = false;
  await linkWatch.check(signal);
  expect(alarms.list()).toEqual([expect.stringContaining('link-down: ')]);
  expect(linkWatch.illness).toBeUndefined();
});

test("ignores a record that can't be read", async () => {
  await fs.writeFile(path.join(directory, 'links.json'), '{"links":');
  const machine = new Machine();
  const { linkWatch } = watch(machine);
  await linkWatch.load();
  await linkWatch.check(signal);
  expect(linkWatch.illness).toBeUndefined();
});
