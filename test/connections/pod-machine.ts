import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Topology } from '../kernel/gateway/topology.ts';
import { waitFor } from '../services/wait-for.ts';

/** Ports of the pods: the second one is behind two Services. */
export const podPorts = [9_000, 9_001] as const;
const firstHost = 10;
const lastHost = 250;
const program = path.join(import.meta.dirname, 'programs', 'traffic-server.ts');

/**
 * The pods of one node. They share a network namespace and a server process, and each has its own addresses,
 * so that a new pod costs no new process.
 */
export class PodMachine {
  readonly hostAddresses: readonly string[];
  readonly log: string;
  readonly #topology: Topology;
  readonly #machine: string;
  readonly #number: number;
  readonly #control: string;
  #nextHost = firstHost;

  constructor(topology: Topology, number: number) {
    this.#topology = topology;
    this.#machine = `p${number}`;
    this.#number = number;
    this.hostAddresses = [`10.78.0.2${number}`, `2001:db8:78::2${number}`];
    this.log = topology.log(`pods-${number}`);
    this.#control = path.join(topology.directory, `pods-${number}.sock`);
  }

  async start(messageMs: number, stallMs: number): Promise<void> {
    const words = [program, this.#control, messageMs, stallMs, ...podPorts].map(String);
    this.#topology.start(this.#machine, `pods-${this.#number}`, words);
    await waitFor(`the pods of node ${this.#number}`, async () =>
      (await fs.readFile(this.log, 'utf8')).includes('ready'),
    );
  }

  /** Starts a pod and returns its addresses. A former address is reused as late as possible. */
  async startPod(name: string): Promise<readonly string[]> {
    const host = this.#nextHost;
    this.#nextHost = host === lastHost ? firstHost : host + 1;
    const addresses = [`10.79.${this.#number}.${host}`, `2001:db8:79:${this.#number}::${host}`];
    await this.#order({ add: name, addresses });
    await this.#changeAddresses('add', addresses);
    return addresses;
  }

  /** Resets the pod's connections, then removes its addresses. */
  async endPod(name: string, addresses: readonly string[]): Promise<void> {
    await this.#order({ remove: name });
    await this.#changeAddresses('delete', addresses);
  }

  async dropSyns(addresses: readonly string[]): Promise<void> {
    const rules = addresses.map(
      (address) =>
        `${address.includes(':') ? 'ip6' : 'ip'} daddr ${address} tcp flags & (syn|ack) == syn drop`,
    );
    await dropSyns(this.#topology, this.#machine, rules);
  }

  acceptSyns(): Promise<void> {
    return acceptSyns(this.#topology, this.#machine);
  }

  async #changeAddresses(verb: 'add' | 'delete', addresses: readonly string[]): Promise<void> {
    const lines = addresses.map((address) =>
      address.includes(':')
        ? `address ${verb} ${address}/64 dev eth0${verb === 'add' ? ' nodad' : ''}\n`
        : `address ${verb} ${address}/24 dev eth0\n`,
    );
    const command = ['ip', '-batch', '-'];
    await this.#topology.network.run(this.#machine, command, lines.join(''));
  }

  async #order(order: object): Promise<void> {
    const socket = net.connect(this.#control);
    socket.once('data', () => socket.end());
    socket.write(`${JSON.stringify(order)}\n`);
    await text(socket);
  }
}

/** Adds rules to a machine that drop SYNs before any other rule sees them. */
export async function dropSyns(
  { network }: Topology,
  machine: string,
  rules: readonly string[],
): Promise<void> {
  const chain = `chain first {\n type filter hook prerouting priority -400;\n ${rules.join('\n ')}\n }`;
  await network.run(machine, ['nft', '-f', '-'], `table inet overload {\n ${chain}\n }\n`);
}

export async function acceptSyns({ network }: Topology, machine: string): Promise<void> {
  await network.run(machine, ['nft', 'delete', 'table', 'inet', 'overload']);
}
