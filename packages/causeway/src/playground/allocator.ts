import fs from 'node:fs/promises';
import path from 'node:path';
import { IpamClient } from '../ipam/api/client.ts';
import { createOperator } from '../ipam/init.ts';
import { openLedger } from '../ipam/open-ledger.ts';
import { ipamServerSettings } from '../ipam/settings.ts';
import type { Clock } from '@causeway/base/time/clock';
import type { Jobs } from './child-process.ts';
import { freePort } from './free-port.ts';

export interface PlaygroundAllocator {
  readonly url: string;
  readonly tokenFile: string;
}

export const site = 'playground';

/** The shared allocator on SQLite, with one site and one pool. */
export async function startAllocator(
  jobs: Jobs,
  directory: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<PlaygroundAllocator> {
  const own = path.join(directory, 'ipam');
  await fs.mkdir(own, { recursive: true });
  const settings = {
    ledger: `sqlite:${path.join(own, 'ipam.db')}`,
    listen: { host: '127.0.0.1', port: await freePort() },
    metrics: { host: '127.0.0.1', port: await freePort() },
    log: { format: 'text' as const },
  };
  const ledger = await openLedger(ipamServerSettings.parse(settings), clock);
  const token = await createOperator(ledger, 'the playground', clock.wallTime(), signal);
  await ledger.close();
  const tokenFile = path.join(own, 'token');
  await fs.writeFile(tokenFile, token, { mode: 0o600 });
  const config = path.join(own, 'ipam.yaml');
  await fs.writeFile(config, JSON.stringify(settings, undefined, 2));
  jobs.start({ name: 'ipam', words: ['ipam', 'serve', '--config', config] });
  const url = `http://127.0.0.1:${settings.listen.port}`;
  const client = new IpamClient({ urls: [url], token: () => Promise.resolve(token), clock });
  try {
    const params = { site };
    await jobs.until('ipam', () => client.call('setSite', { params, body: {} }, signal), signal);
    const body = { addresses: ['192.0.2.0/24'], reason: 'initial pool of the playground' };
    await client.call('setPool', { params: { site, pool: 'first' }, body }, signal);
  } finally {
    await client.close();
  }
  return { url, tokenFile };
}
