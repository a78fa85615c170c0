import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Frontend } from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
/** An address of the gateway itself, and the port that its agent listens on. */
const own = '10.77.0.11';
const apiPort = 15213;

describe.skipIf(!isRunnable)('the stored state of a gateway', () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await Topology.start();
  });
  afterAll(() => topology.stop());

  async function push(generation: number, ...frontends: Frontend[]) {
    const lines = writeState({ ...nothing, frontends }, { generation });
    return topology.client('g1').push([...lines], signal);
  }

  const rules = () => topology.network.run('g1', ['nft', 'list', 'table', 'inet', 'causeway']);
  const ask = async (port: number) => (await topology.ask<string[]>('c', 'who', own, port))[0];

  test('does not cut it off from its own address when that was stored as a virtual one', async () => {
    // If another component moves the addresses, the agent does not know which are the gateway's own.
    await topology.startAgent('g1', { addresses: { mover: 'foreign' } });
    const before = [frontend(own, 'TCP', ['p1']), frontend('10.77.1.1', 'TCP', ['p1'])];
    await push(1, ...before);
    expect(await ask(apiPort)).toBe('ECONNREFUSED');
    await topology.killAgent('g1');
    await topology.startAgent('g1', {});
    expect(await ask(apiPort)).toContain('HTTP/1.1 400');
    expect(await rules()).not.toContain(`${own} `);
    await waitFor('the other address', async () => {
      const [answer] = await topology.ask<string[]>('c', 'who', '10.77.1.1', 80);
      return answer?.startsWith('p1');
    });
    // An update that still has it gets an error, and one without it is accepted.
    const { errors } = await push(2, ...before);
    expect(errors).toMatchObject([{ frontend: { address: own, port: 80 } }]);
    expect(await push(3, ...before.slice(1))).toMatchObject({ older: [], errors: [] });
    expect(await ask(apiPort)).toContain('HTTP/1.1 400');
  });

  test('withholds only the removals of a mass removal, until an operator allows them', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      frontend('10.77.1.1', 'TCP', ['p1'], { port: parsePort(1_000 + index) }),
    );
    const added = frontend('10.77.1.2', 'TCP', ['p1'], { port: parsePort(80) });
    await push(4, ...many);
    expect((await push(5, added)).withheld).toHaveLength(30);
    const shown = await rules();
    expect(shown).toContain('10.77.1.1 ');
    expect(shown).toContain('10.77.1.2 ');
    await topology.command('g1', 'allow-removal', '--reason', 'the tests are over');
    expect(await rules()).not.toContain('10.77.1.1 ');
    expect(await topology.command('g1', 'status')).not.toContain('removal allowed');
    // If nothing is withheld, the permission is for the next update with a mass removal, once.
    await push(6, added, ...many);
    await topology.command('g1', 'allow-removal', '--reason', 'the tests are over');
    expect(await topology.command('g1', 'status')).toContain(
      'removal allowed (the tests are over)',
    );
    await topology.command('g1', 'refuse-removal');
    expect((await push(7, added)).withheld).toHaveLength(30);
    await push(8, added, ...many);
    await topology.command('g1', 'allow-removal', '--reason', 'the tests are over');
    expect((await push(9, added)).withheld).toEqual([]);
    expect(await rules()).not.toContain('10.77.1.1 ');
    await push(10, added, ...many);
    expect((await push(11, added)).withheld).toHaveLength(30);
  });
});
