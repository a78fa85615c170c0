import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

/** One VRRP instance: no addresses of the internal network, and no IPv6. */
const onlyExternal4 = {
  external: { interface: 'ext', virtualRouterId: 51, address4: '10.77.0.11' },
  internal: undefined,
};

describe.skipIf(!isRunnable)('a gateway with one family in one network', () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await Topology.start();
  });
  afterAll(() => topology.stop());

  test("serves, names the addresses that it can't hold, and applies the rest, also after a restart", async () => {
    await topology.startAgent('g1', onlyExternal4);
    const client = topology.client('g1');
    const isActive = async () => (await client.status(signal)).announcer.role === 'active';
    await waitFor('the active gateway', isActive);
    const good = frontend('10.77.1.1', 'TCP', ['p1'], { masquerade: 'always' });
    const bad = ['2001:db8:77:1::1', '::1', 'ff02::1', '0.0.0.0', '10.77.0.11'].map((address) =>
      frontend(address, 'TCP', ['p1']),
    );
    const lines = writeState({ ...nothing, frontends: [good, ...bad] }, { generation: 1 });
    const { errors } = await client.push([...lines], signal);
    expect(new Set(errors.map((each) => each.frontend?.address))).toEqual(
      new Set(bad.map(({ address }) => address)),
    );
    const served = () =>
      waitFor('an answer', async () => {
        const [answer] = await topology.ask<string[]>('c', 'who', '10.77.1.1', 80);
        return answer?.startsWith('p1 ');
      });
    await served();

    await topology.killAgent('g1');
    await topology.startAgent('g1', onlyExternal4);
    await waitFor('the active gateway again', isActive);
    expect(await client.status(signal)).toMatchObject({ sound: true, generation: 1 });
    const more = [good, frontend('10.77.1.2', 'TCP', ['p2'], { masquerade: 'always' })];
    await client.push([...writeState({ ...nothing, frontends: more }, { generation: 2 })], signal);
    await served();
  });
});
