import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

describe.skipIf(!isRunnable)('a gateway with mistyped peers', () => {
  let topology: Topology;

  beforeAll(async () => {
    topology = await Topology.start();
    const external = {
      interface: 'ext',
      virtualRouterId: 51,
      address4: '10.77.0.11',
      peers4: ['10.77.0.21'],
      address6: '2001:db8:77::11',
      peers6: ['2001:db8:77::21'],
    };
    await topology.startAgent('g1', { external });
    await topology.startAgent('g2');
    const frontends = [frontend('10.77.1.1', 'TCP', ['p1'])];
    await topology.push(writeState({ ...nothing, frontends }, { generation: 1 }));
  });
  afterAll(() => topology.stop());

  test('is named by the alarm of the standby, which hears it on the internal network only', async () => {
    const alarm = await waitFor('the alarm of g2', async () => {
      const { alarms } = await topology.client('g2').status(signal);
      return alarms.find((each) => each.startsWith('peers-unheard: '));
    });
    expect(alarm).toContain('nothing was heard from the peer 10.77.0.11, 2001:db8:77::11,');
  });

  test('names the sender of dropped adverts and the peer that was never heard', async () => {
    // The standby becomes active, and its adverts reach the gateway that does not know it.
    await topology.command('g1', 'drain', '--reason', 'a test');
    const alarm = await waitFor('the alarm of g1', async () => {
      const { alarms } = await topology.client('g1').status(signal);
      return alarms.find((each) => each.startsWith('forged-adverts: ') && each.includes('10.77.'));
    });
    expect(alarm).toContain('10.77.0.12 (no peer of this gateway)');
    expect(alarm).toMatch(/Nothing was heard from the peer 10\.77\.0\.21/);
  });
});
