import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { makeFrontend } from '../../protocol/frontend.ts';
import { UpdateReader, type Update } from '../../protocol/update.ts';
import { writeState } from '../../protocol/write-update.ts';
import { servableHere } from '../servable-here.ts';
import { agentSettings } from '../settings.ts';
import { setUnservableAside, whyUnservable } from './servable.ts';

const external = {
  interface: 'ext',
  virtualRouterId: 51,
  address4: '10.77.0.11',
  peers4: ['10.77.0.12'],
};
const internal = {
  interface: 'int',
  virtualRouterId: 52,
  address4: '10.78.0.11',
  address6: '2001:db8:78::11',
  routes: ['10.78.0.1'],
};
const listen = { address: '10.99.0.1' };
const settings = agentSettings.parse({ name: 'g1', external, internal, listen });
const servable = servableHere(settings);

function pushTo(...addresses: string[]): Update {
  return pushOf(addresses, 'needed');
}

function pushOf(addresses: readonly string[], masquerade: 'needed' | 'always'): Update {
  const frontends = addresses.map((address) =>
    makeFrontend({
      masquerade,
      address: parseAddress(address),
      protocol: 'TCP',
      port: parsePort(80),
      destinations: [],
    }),
  );
  const reader = new UpdateReader();
  const content = { frontends, policies: [], assignments: [], nodes: [] };
  for (const line of writeState(content, { generation: 1 })) reader.line(line);
  return reader.result();
}

describe("an address that this gateway can't hold", () => {
  test.each([
    ['2001:db8::1', /no IPv6 address in the external network/],
    ['0.0.0.0', /clients can connect/],
    ['::', /clients can connect/],
    ['::1', /clients can connect/],
    ['ff02::1', /clients can connect/],
    ['10.77.0.11', /this gateway's own in the external network/],
    ['10.78.0.11', /this gateway's own in the internal network/],
    ['10.77.0.12', /another gateway's own/],
    ['10.78.0.1', /a route that moves/],
    ['10.99.0.1', /the listen address of the agent/],
  ])('%s is recognized, with the reason', (address, why) => {
    expect(whyUnservable(servable, parseAddress(address))).toMatch(why);
  });

  test('is rejected and named, and the others are applied', () => {
    const push = setUnservableAside(pushTo('192.0.2.1', '10.77.0.11', '2001:db8::1'), servable);
    expect([...push.frontends.keys()]).toEqual(['192.0.2.1:80/TCP']);
    expect([...push.badFrontends.keys()]).toEqual(['10.77.0.11:80/TCP', '[2001:db8::1]:80/TCP']);
    expect(push.complaints).toMatchObject([
      { frontend: { address: '10.77.0.11' }, message: expect.stringContaining('own') },
      { frontend: { address: '2001:db8::1' }, message: expect.stringContaining('IPv6') },
    ]);
  });
});

test('serves only frontends with masquerade if several groups are active', () => {
  const several = { ...servable, isOneOfSeveral: true };
  const kept = setUnservableAside(pushOf(['192.0.2.1'], 'needed'), several);
  expect([...kept.badFrontends.values()]).toEqual([expect.stringContaining('masquerade: always')]);
  expect(kept.frontends.size).toBe(0);
  const rewritten = pushOf(['192.0.2.1'], 'always');
  expect(setUnservableAside(rewritten, several)).toBe(rewritten);
  const here = agentSettings.parse({ name: 'g1', external, addresses: { groups: 'several' } });
  expect(servableHere(here).isOneOfSeveral).toBe(true);
});

test('serves every family if another system moves the addresses', () => {
  const foreign = agentSettings.parse({ name: 'g1', addresses: { mover: 'foreign' } });
  expect(whyUnservable(servableHere(foreign), parseAddress('2001:db8::1'))).toBeUndefined();
  expect(whyUnservable(servableHere(foreign), parseAddress('::1'))).toBeDefined();
});
