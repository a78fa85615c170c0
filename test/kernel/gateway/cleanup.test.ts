import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();

describe.skipIf(!isRunnable).each(['netlink', 'nft'])(
  'decommissioning a gateway, with the driver %s',
  (driver) => {
    let topology: Topology;
    beforeAll(async () => {
      topology = await Topology.start();
      await topology.startAgent('g1', { nftables: { driver } });
      const frontends = [frontend('10.77.1.1', 'TCP', ['p1'])];
      const lines = writeState({ ...nothing, frontends }, { generation: 1 });
      await topology.client('g1').push([...lines], signal);
      await waitFor('the address', async () => (await addresses()).includes('10.77.1.1/'));
    });
    afterAll(() => topology.stop());

    const addresses = () => topology.network.run('g1', ['ip', '-brief', 'address']);
    const tables = () => topology.network.run('g1', ['nft', 'list', 'tables']);

    test('keeps everything while its agent runs', async () => {
      await expect(topology.command('g1', 'cleanup')).rejects.toThrow('the agent is running');
      expect(await tables()).toContain('causeway');
    });

    test('removes addresses, rules and keepalived, and can be repeated', async () => {
      const before = await addresses();
      await topology.stopAgent('g1');
      // Stopping alone is no outage.
      expect(await addresses()).toBe(before);
      for (let time = 0; time < 2; time += 1) {
        expect(await topology.command('g1', 'cleanup')).toContain('gone');
        expect(await tables()).toBe('');
        expect(await addresses()).not.toContain('10.77.1.1/');
        expect(await addresses()).not.toContain('10.78.0.1/');
      }
      const running = await runOrThrow('ip', ['netns', 'pids', topology.network.namespace('g1')]);
      expect(running).toBe('');
    });
  },
);
