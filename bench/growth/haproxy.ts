import fs from 'node:fs/promises';
import path from 'node:path';
import { removeDirectory, scratchDirectory } from '../../test/services/scratch.ts';
import { unpackDebianPackages } from '../../test/services/unpacked-packages.ts';
import { waitFor } from '../../test/services/wait-for.ts';
import { backendAddress, backendPort, servedAddresses, type Gateway } from '../packet-gateways.ts';
import { servedPort } from '../alternate-packets.ts';

/** With the libraries that a small Debian lacks. */
const packages = [
  'haproxy',
  'liblua5.3-0',
  'libopentracing-c-wrapper0',
  'libopentracing1',
] as const;

/** Directory of Debian's unpacked HAProxy. */
export function prepareHaproxy(): Promise<string> {
  return unpackDebianPackages(packages);
}

/** HAProxy in TCP mode, a proxy for each Service, all to the one backend. It runs as long as its gateway. */
export async function runHaproxy(root: string, gateway: Gateway, count: number): Promise<void> {
  const directory = await scratchDirectory('bench-haproxy');
  const file = path.join(directory, 'haproxy.cfg');
  const services = servedAddresses(gateway, count).map(
    (address, index) =>
      `listen s${index}\n  bind ${address}:${servedPort}\n  server backend ${backendAddress}:${backendPort}`,
  );
  const settings =
    'defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s';
  await fs.writeFile(file, `global\n  maxconn 1000\n${settings}\n${services.join('\n')}\n`);
  await gateway.host.setting('net.ipv4.ip_nonlocal_bind', 1);
  const libraries = path.join(root, 'usr', 'lib', 'x86_64-linux-gnu');
  const child = gateway.host.start(
    ...(['env', `LD_LIBRARY_PATH=${libraries}`] as const),
    ...[path.join(root, 'usr', 'sbin', 'haproxy'), '-db', '-f', file],
  );
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await waitFor('HAProxy to listen', async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended: ${said}`);
    const listening = await gateway.host.run('ss', '-Hltn', `src ${gateway.address}`);
    return listening.includes(`:${servedPort}`);
  });
  await removeDirectory(directory);
}
