import type { Host } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';

/** The kernel lists the listeners of each group; that of nftables, 7, is bit 6. */
export async function waitForListeners(host: Host, count: number): Promise<void> {
  await waitFor(`${count} listeners`, async () => {
    const sockets = await host.run('cat', '/proc/net/netlink');
    const listening = sockets.split('\n').filter((line) => {
      const [, protocol, , groups = '0'] = line.trim().split(/\s+/);
      return protocol === '12' && (Number.parseInt(groups, 16) & 0x40) !== 0;
    });
    return listening.length >= count;
  });
}
