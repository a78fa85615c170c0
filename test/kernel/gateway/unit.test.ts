import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const units = path.join(import.meta.dirname, '..', '..', '..', 'deploy', 'systemd');
const { signal } = new AbortController();

/** Limits a program to the capabilities of its unit, like systemd. */
async function confinement(unit: string): Promise<string[]> {
  const text = await fs.readFile(path.join(units, unit), 'utf8');
  const line = /^CapabilityBoundingSet=(.*)$/m.exec(text)?.[1] ?? '';
  const kept = line.split(' ').map((name) => `+${name.replace('CAP_', '').toLowerCase()}`);
  const set = ['-all', ...kept].join(',');
  return ['setpriv', `--bounding-set=${set}`, '--no-new-privs', '--'];
}

/**
 * And to a container: a read-only root and read-only kernel settings, except for its own directory ($0) and,
 * in there, those of the network.
 */
const container = `
mkdir -p "$0/sys/net"
mount --make-rprivate /
mount --bind "$0" "$0"
mount --bind /proc/sys/net "$0/sys/net"
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -o remount,bind,ro /
exec "$@"
`;

describe.skipIf(!isRunnable).each([
  ['as units', false],
  ['in containers', true],
])('agent and keepalived %s', (_, isContainer) => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await Topology.start();
  });
  afterAll(() => topology.stop());

  test('have the capabilities that they need', async () => {
    const within = isContainer
      ? ['unshare', '--mount', 'sh', '-euc', container, topology.directory]
      : [];
    const agent = [...within, ...(await confinement('causeway-agent.service'))];
    const keepalived = [...within, ...(await confinement('causeway-keepalived.service'))];
    const settingsDirectory = isContainer ? `${topology.directory}/sys` : '/proc/sys';
    const changes = { addresses: { start: 'external' }, settingsDirectory };
    const starting = topology.startAgent('g1', changes, agent);
    const file = (name: string) => topology.runtimeFile('g1', name);
    await waitFor('the configuration', () => fs.stat(file('keepalived.conf')));
    topology.startProgram('g1', 'keepalived', [
      ...[...keepalived, 'keepalived', '--dont-fork', '--log-console', '--vrrp'],
      ...['--use-file', file('keepalived.conf')],
      ...['--pid', file('keepalived.pid'), '--vrrp_pid', file('keepalived-vrrp.pid')],
    ]);
    await starting;
    const lines = writeState(
      { ...nothing, frontends: [frontend('10.77.1.1', 'TCP', ['p1'])] },
      { generation: 1 },
    );
    await topology.client('g1').push([...lines], signal);
    await waitFor('the active gateway', async () => (await topology.active()) === 'g1');
    const answers = await waitFor('an answer', async () => {
      const [answer] = await topology.ask<string[]>('c', 'who', '10.77.1.1', 80);
      return answer === 'p1 10.77.0.100' && answer;
    });
    expect(answers).toBe('p1 10.77.0.100');
    await waitFor('the settings to be right', async () => {
      const { kernelSettings } = await topology.client('g1').status(signal);
      return kernelSettings.every(({ wanted, found }) => wanted === found);
    });
    expect(await fs.readFile(topology.log('agent-g1'), 'utf8')).not.toContain(
      "can't listen to neighbors",
    );
  });
});
