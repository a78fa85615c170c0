import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/agent/model/endpoint.ts';
import { writeState } from '../../../src/agent/wire/write-push.ts';
import { parsePort } from '../../../src/domain/port.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { endpoint, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
/** An address of the gateway itself, and the port that its agent listens on. */
const own = '10.77.0.11';
const apiPort = 15213;

describe.skipIf(!isRunnable)('what a gateway has stored', () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await Topology.start();
  });
  afterAll(() => topology.stop());

  async function push(generation: number, ...endpoints: Endpoint[]) {
    const lines = writeState({ ...nothing, endpoints }, { generation });
    return topology.client('g1').push([...lines], signal);
  }

  const rules = () => topology.network.run('g1', ['nft', 'list', 'table', 'inet', 'causeway']);
  const ask = async (port: number) => (await topology.ask<string[]>('c', 'who', own, port))[0];

  test('does not cut it off from its own address, whoever took that for a virtual one', async () => {
    // Where something else moves the addresses the agent does not know which are the gateway's own.
    await topology.startAgent('g1', { addresses: { mover: 'foreign' } });
    const before = [endpoint(own, 'TCP', ['p1']), endpoint('10.77.1.1', 'TCP', ['p1'])];
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
    // A push that still has it is told so, and one that leaves it out is taken.
    const { errors } = await push(2, ...before);
    expect(errors).toMatchObject([{ endpoint: { address: own, port: 80 } }]);
    expect(await push(3, ...before.slice(1))).toMatchObject({ older: [], errors: [] });
    expect(await ask(apiPort)).toContain('HTTP/1.1 400');
  });

  test('goes by a push that does not say that it means it once an operator allows it', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      endpoint('10.77.1.1', 'TCP', ['p1'], { port: parsePort(1_000 + index) }),
    );
    await push(4, ...many);
    const refused = { reason: 'mass-removal', status: 409 };
    await expect(push(5)).rejects.toMatchObject(refused);
    await topology.command('g1', 'allow-removal', '--reason', 'the tests are over');
    expect(await topology.command('g1', 'status')).toContain(
      'removal allowed (the tests are over)',
    );
    await topology.command('g1', 'refuse-removal');
    await expect(push(5)).rejects.toMatchObject(refused);
    await topology.command('g1', 'allow-removal', '--reason', 'the tests are over');
    await push(5);
    expect(await rules()).not.toContain('10.77.1.1 ');
    // Good for one push.
    await push(6, ...many);
    await expect(push(7)).rejects.toMatchObject(refused);
  });
});
