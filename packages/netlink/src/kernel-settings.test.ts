import { expect, test } from 'vitest';
import { enforceKernelSettings, type KernelNeeds } from './kernel-settings.ts';

const right: Readonly<Record<string, string>> = {
  'net.ipv4.ip_forward': '1',
  'net.ipv6.conf.all.forwarding': '1',
  'net.netfilter.nf_conntrack_tcp_be_liberal': '1',
  'net.netfilter.nf_conntrack_tcp_loose': '1',
  'net.netfilter.nf_conntrack_tcp_timeout_close': '1',
  'net.ipv4.conf.all.rp_filter': '0',
  'net.ipv4.conf.ext.rp_filter': '0',
  'net.ipv4.conf.ext.arp_ignore': '1',
  'net.ipv4.conf.ext.arp_announce': '2',
  'net.ipv4.conf.ext.accept_local': '0',
};
const needs: KernelNeeds = { interfaces: ['ext'], resumesConnections: true };

/** The written and the reported settings, for these differences from the correct ones. */
async function enforce(
  different: Record<string, string>,
  change: Partial<KernelNeeds> = {},
  isReadOnly = false,
) {
  const present = new Map(Object.entries({ ...right, ...different }));
  const written: string[] = [];
  const settings = await enforceKernelSettings(
    { ...needs, ...change },
    {
      read: async (name) => present.get(name) ?? null,
      links6: async () => ['all', 'default', 'ext', 'own', 'vlan.7'],
      async write(name, value) {
        if (isReadOnly) throw new Error('EROFS');
        written.push(`${name}=${value}`);
        present.set(name, value);
      },
    },
  );
  const wrong = settings.filter(({ wanted, found }) => wanted !== found);
  return { written, wrong: wrong.map(({ name }) => name) };
}

test.each<[string, Record<string, string>, Partial<KernelNeeds>, string[]]>([
  ['all settings are correct', {}, {}, []],
  ['forwarding is off', { 'net.ipv4.ip_forward': '0' }, {}, ['net.ipv4.ip_forward=1']],
  [
    'windows are checked',
    { 'net.netfilter.nf_conntrack_tcp_be_liberal': '0' },
    {},
    ['net.netfilter.nf_conntrack_tcp_be_liberal=1'],
  ],
  [
    'no connection is picked up in mid-stream',
    { 'net.netfilter.nf_conntrack_tcp_loose': '0' },
    {},
    ['net.netfilter.nf_conntrack_tcp_loose=1'],
  ],
  [
    'entries of reset connections expire late',
    { 'net.netfilter.nf_conntrack_tcp_timeout_close': '10' },
    {},
    ['net.netfilter.nf_conntrack_tcp_timeout_close=1'],
  ],
  [
    'windows are checked and no connection is resumed',
    { 'net.netfilter.nf_conntrack_tcp_be_liberal': '0' },
    { resumesConnections: false },
    [],
  ],
  [
    'the link filters strictly',
    { 'net.ipv4.conf.ext.rp_filter': '1' },
    {},
    ['net.ipv4.conf.ext.rp_filter=2'],
  ],
  [
    'every link filters strictly',
    { 'net.ipv4.conf.all.rp_filter': '1' },
    {},
    ['net.ipv4.conf.ext.rp_filter=2'],
  ],
  ['the link filters loosely', { 'net.ipv4.conf.ext.rp_filter': '2' }, {}, []],
  [
    'any link answers for any address',
    { 'net.ipv4.conf.ext.arp_ignore': '0', 'net.ipv4.conf.ext.arp_announce': '0' },
    {},
    ['net.ipv4.conf.ext.arp_ignore=1', 'net.ipv4.conf.ext.arp_announce=2'],
  ],
  [
    'links get their default route by advertisements',
    {
      'net.ipv6.conf.all.forwarding': '0',
      'net.ipv6.conf.all.accept_ra': '1',
      'net.ipv6.conf.default.forwarding': '0',
      'net.ipv6.conf.default.accept_ra': '1',
      'net.ipv6.conf.ext.forwarding': '0',
      'net.ipv6.conf.ext.accept_ra': '0',
      'net.ipv6.conf.own.forwarding': '1',
      'net.ipv6.conf.own.accept_ra': '1',
      'net.ipv6.conf.vlan.7.forwarding': '0',
      'net.ipv6.conf.vlan.7.accept_ra': '1',
    },
    {},
    // In this order: forwarding would remove their routes.
    [
      'net.ipv6.conf.default.accept_ra=2',
      'net.ipv6.conf.vlan.7.accept_ra=2',
      'net.ipv6.conf.all.forwarding=1',
    ],
  ],
  [
    'links ignore advertisements because they forward',
    { 'net.ipv6.conf.ext.forwarding': '1', 'net.ipv6.conf.ext.accept_ra': '1' },
    {},
    [],
  ],
  ['answers carry our address', {}, { routesBy: 'ext' }, ['net.ipv4.conf.ext.accept_local=1']],
])('%s', async (_name, different, change, written) => {
  expect(await enforce(different, change)).toEqual({ written, wrong: [] });
});

test("a setting that can't be written is reported", async () => {
  expect(await enforce({ 'net.ipv4.ip_forward': '0' }, {}, true)).toEqual({
    written: [],
    wrong: ['net.ipv4.ip_forward'],
  });
});
