import fs from 'node:fs/promises';
import { waitFor } from '../../services/wait-for.ts';
import type { GatewayName, Topology } from './topology.ts';

/** A fault of a gateway, and its recovery. */
export interface Fault {
  readonly name: string;
  strike(topology: Topology, gateway: GatewayName): Promise<void>;
  recover(topology: Topology, gateway: GatewayName): Promise<void>;
}

export const faults: readonly Fault[] = [
  {
    name: 'keepalived is killed',
    async strike(topology, gateway) {
      const pidIn = async (file: string) =>
        Number(await fs.readFile(topology.runtimeFile(gateway, file), 'utf8'));
      const parent = await pidIn('keepalived.pid');
      const vrrp = await pidIn('keepalived-vrrp.pid');
      // Both at one moment: a surviving child sends its last advert and removes its addresses, and a
      // surviving parent starts another child.
      process.kill(parent, 'SIGSTOP');
      process.kill(vrrp, 'SIGKILL');
      process.kill(parent, 'SIGKILL');
    },
    recover: () => Promise.resolve(),
  },
  {
    name: 'its external link goes down',
    async strike({ network }, gateway) {
      await network.ip('switch', `link set ${gateway}-ext down`);
    },
    async recover({ network }, gateway) {
      await network.ip('switch', `link set ${gateway}-ext up`);
    },
  },
  {
    name: 'its power is cut',
    strike: (topology, gateway) => topology.cutPower(gateway),
    recover: (topology, gateway) => topology.restorePower(gateway),
  },
];

export interface Outage {
  readonly address: string;
  readonly answers: number;
  readonly longestMs: number;
  /** The most unanswered probes in a row. At most a hundred are sent in a second. */
  readonly lostInARow: number;
  /** The last server that answered. */
  readonly from: string;
}

/**
 * Applies the fault to the active gateway while clients send probes, and returns the outage of each address.
 */
export async function strikeActive(
  topology: Topology,
  fault: Fault,
  addresses: readonly string[],
): Promise<{ outages: Outage[]; struck: GatewayName }> {
  const struck = await waitFor('one active gateway', () => topology.active());
  const other = struck === 'g1' ? 'g2' : 'g1';
  const attempting = await topology.startClient('c', 'timeout', 80, ...addresses);
  await fault.strike(topology, struck);
  await waitFor('the other to be active', async () => (await topology.active()) === other);
  attempting.stop();
  const outages = await attempting.result<Outage[]>();
  await fault.recover(topology, struck);
  await waitFor('the struck one to be backup', async () => {
    const { announcer } = await topology.client(struck).status(new AbortController().signal);
    // A gateway that has just started waits for a second before it would take over.
    return announcer.role === 'standby' && Date.now() - Date.parse(announcer.since ?? '') > 1_500;
  });
  return { outages, struck };
}
