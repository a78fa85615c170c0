import { describe, expect, it, test } from 'vitest';
import type { SettingsFiles } from '@causeway/netlink/kernel-settings';
import { enforceSettings, wantedConntrack } from './conntrack-settings.ts';
import { proxySettings } from './settings.ts';

const { conntrack: defaults } = proxySettings.parse({});

describe('the connection table', () => {
  test.each([
    [2, 131_072],
    [16, 524_288],
  ])('has room on %d cores for %d connections', (cores, value) => {
    expect(wantedConntrack(defaults, cores)).toEqual([
      { name: 'net.netfilter.nf_conntrack_max', value, isAtLeast: true },
      { name: 'net.netfilter.nf_conntrack_tcp_timeout_established', value: 86_400 },
      { name: 'net.netfilter.nf_conntrack_tcp_timeout_close_wait', value: 3_600 },
    ]);
  });

  it('is not changed without a setting', () => {
    const nothing = {
      ...defaults,
      maxPerCore: 0,
      tcpEstablishedSeconds: 0,
      tcpCloseWaitSeconds: 0,
    };
    expect(wantedConntrack(nothing, 2)).toEqual([]);
    const more = { ...nothing, tcpBeLiberal: true, udpSeconds: 30, udpStreamSeconds: 120 };
    expect(wantedConntrack(more, 2).map(({ value }) => value)).toEqual([30, 120, 1]);
  });

  it('is set where it differs, and failures are reported', async () => {
    const values = new Map([
      ['a', '5'],
      ['b', '1'],
      ['big', '900'],
    ]);
    const kernel: SettingsFiles = {
      read: (name) => Promise.resolve(values.get(name) ?? null),
      write: (name, value) =>
        values.has(name)
          ? Promise.resolve(void values.set(name, value))
          : Promise.reject(new Error('read-only')),
    };
    const problems = await enforceSettings(kernel, [
      { name: 'a', value: 5 },
      { name: 'b', value: 7 },
      { name: 'big', value: 100, isAtLeast: true },
      { name: 'gone', value: 1 },
    ]);
    expect([...values.values()]).toEqual(['5', '7', '900']);
    expect(problems).toEqual(['gone is not there and should be 1: read-only']);
  });
});
