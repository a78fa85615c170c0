import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NamespaceServers } from '../../../packages/causeway/src/playground/namespace-servers.ts';
import { Namespaces } from '../../../packages/causeway/src/playground/namespaces.ts';
import { isAvailable } from '../../services/missing.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { requireNetworkTools } from '../gateway/network.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const address = '192.0.2.1';

describe.skipIf(!isRunnable)('servers in namespaces', () => {
  let namespaces: Namespaces;
  let servers: NamespaceServers;
  beforeEach(async () => {
    namespaces = await Namespaces.create(['segment']);
    servers = new NamespaceServers(namespaces.idleNamespace);
    await namespaces.add('pod');
    await namespaces.plug('pod', 'eth0', 'segment', [`${address}/24`]);
    await namespaces.add('client');
    await namespaces.plug('client', 'eth0', 'segment', ['192.0.2.2/24']);
  });
  afterEach(async () => {
    await servers.stop();
    await namespaces.removeAll();
  });

  const on = (machine: string, ...command: string[]) => {
    const [program, ...words] = namespaces.words(machine);
    return runOrThrow(program, [...words, ...command]);
  };

  test('the namespace of a closed server is deleted, with its cable', async () => {
    await servers.open('web', namespaces.pathOf('pod'), [{ protocol: 'TCP', port: 80 }]);
    expect(await on('client', 'curl', '-sS', `http://${address}/`)).toContain('web saw 192.0.2.2');
    expect(await on('switch', 'ip', '-brief', 'link')).toContain('port1');
    await servers.close('web');
    await namespaces.remove('pod');
    await expect
      .poll(() => on('switch', 'ip', '-brief', 'link'), { timeout: 20_000 })
      .not.toContain('port1');
  });
});
