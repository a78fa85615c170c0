import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { TestNetwork } from './network.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { runProgram } from '../../services/run-program.ts';
import { fencedGateways, PortSecurity, type Allowed } from './port-security.ts';

const own = ['10.77.0.11/32', '2001:db8:77::11/128'].map(parsePrefix);
const networks = ['10.77.0.0/16', '2001:db8:77::/64'].map(parsePrefix);
const free: Allowed = new Map([['g1', [...own, ...networks]]]);
const fenced: Allowed = new Map([['g1', own]]);

test('a gateway without pairs is fenced', () => {
  expect([fencedGateways(free), fencedGateways(fenced)]).toEqual([[], ['g1']]);
});

describe.runIf(canUseNamespaces())('on packets', () => {
  let network: TestNetwork;
  let security: PortSecurity;

  beforeAll(async () => {
    network = await TestNetwork.create(['external']);
    await network.addMachine('g1');
    await network.addMachine('router');
    const addresses = ['10.77.0.11/16', '10.77.128.1/32', '2001:db8:77::11/64'];
    const virtual6 = '2001:db8:77::1:1/128';
    await network.plug('g1', 'ext', 'external', [...addresses, virtual6]);
    await network.plug('router', 'ext', 'external', ['10.77.0.1/16', '2001:db8:77::1/64']);
    security = new PortSecurity(network);
  });
  afterAll(() => network?.remove());

  /** The addresses under which the gateway is reached. */
  const reached = async () => {
    const all = ['10.77.0.11', '10.77.128.1', '2001:db8:77::11', '2001:db8:77::1:1'];
    // Without this, the router would use its cached neighbors.
    await network.ip('router', 'neigh flush all');
    const tries = await Promise.all(
      all.map(async (address) => {
        const words = ['netns', 'exec', network.namespace('router')];
        const ping = ['ping', '-q', '-c', '2', '-i', '0.2', '-W', '1', address];
        return (await runProgram('ip', [...words, ...ping])).code === 0;
      }),
    );
    return all.filter((_, index) => tries[index]);
  };

  test('all of its addresses pass, then only its own, then all again', async () => {
    const all = ['10.77.0.11', '10.77.128.1', '2001:db8:77::11', '2001:db8:77::1:1'];
    await security.obey(free);
    expect(await reached()).toEqual(all);
    await security.obey(fenced);
    expect(await reached()).toEqual(['10.77.0.11', '2001:db8:77::11']);
    await security.obey(free);
    expect(await reached()).toEqual(all);
  });

  test("it can't send as the router, either", async () => {
    await security.obey(free);
    const words = ['netns', 'exec', network.namespace('g1')];
    const ping = ['ping', '-q', '-c', '1', '-W', '1', '10.77.0.1'];
    expect((await runProgram('ip', [...words, ...ping])).code).toBe(0);
    await network.ip('g1', 'address add 198.51.100.7/32 dev ext');
    const { code } = await runProgram('ip', [...words, ...ping, '-I', '198.51.100.7']);
    expect(code).not.toBe(0);
  });
});
