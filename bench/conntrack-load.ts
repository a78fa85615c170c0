import fs from 'node:fs/promises';
import path from 'node:path';
import { addressFromInteger } from '../packages/base/src/address/address.ts';
import { parsePort } from '../packages/base/src/address/port.ts';
import type { RemovedBackend } from '../packages/nftables/src/compile/layout-change.ts';
import type { Host } from '../test/services/namespaces.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';

export const virtualAddress = (service: number) =>
  addressFromInteger(0x0a640000n + BigInt(service + 1), 4);
export const podAddress = (pod: number) => addressFromInteger(0x0ac80000n + BigInt(pod + 1), 4);
export const virtualPort = parsePort(80);
export const podPort = parsePort(8080);

/** A backend of a Service, as removed. */
export function removedPod(service: number): RemovedBackend {
  return {
    address: podAddress(service),
    backend: {
      protocol: 'TCP',
      port: podPort,
      virtualAddress: virtualAddress(service),
      virtualPort,
    },
  };
}

/** Fills the kernel's table with answered connections, spread over the Services, each to the Service's own pod. */
export async function fillConntrack(host: Host, connections: number, services: number) {
  const directory = await scratchDirectory('bench-conntrack');
  const file = path.join(directory, 'entries');
  const lines = Array.from({ length: connections }, (_, index) => entry(index, index % services));
  await fs.writeFile(file, lines.join(''));
  await host.run('conntrack', '-R', file);
  await removeDirectory(directory);
  const { stdout } = await host.attempt('conntrack', ['-C']);
  if (Number(stdout) >= connections) return;
  throw new Error(`conntrack holds ${stdout.trim()} of ${connections}: raise nf_conntrack_max`);
}

function entry(index: number, service: number): string {
  const client = addressFromInteger(0xc6120000n + BigInt(index), 4);
  const virtual = virtualAddress(service);
  const from = 1024 + (index % 60_000);
  return [
    ...['-I', '-p', 'tcp', '-s', client, '-d', virtual, '--sport', from, '--dport', virtualPort],
    ...['-r', virtual, '-q', client, '--reply-port-src', virtualPort, '--reply-port-dst', from],
    ...['-t', '86400', '--state', 'ESTABLISHED', '-u', 'SEEN_REPLY,ASSURED'],
    ...['--dst-nat', `${podAddress(service)}:${podPort}\n`],
  ].join(' ');
}

/** Processor time of one deletion by the program conntrack, with the filters of one removed pod, in ms. */
export async function deletionByProgram(host: Host, service: number): Promise<number> {
  const command = [
    ...['conntrack', '-D', '-p', 'tcp', '--orig-dst', virtualAddress(service)],
    ...['--orig-port-dst', virtualPort, '--reply-src', podAddress(service)],
  ].join(' ');
  const { stdout } = await host.attempt('sh', ['-c', `${command} >/dev/null 2>&1; times`]);
  const [, ofChildren = ''] = stdout.trim().split('\n');
  const times = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
}
