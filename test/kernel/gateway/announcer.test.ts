import path from 'node:path';
import { describe } from 'vitest';
import { Agent, request } from 'undici';
import type { Address } from '../../../packages/base/src/address/address.ts';
import type { AnnouncerStatus } from '../../../packages/causeway/src/gateway/agent/announce/announcer.ts';
import {
  announcerContract,
  type ContractGateway,
} from '../../../packages/causeway/src/gateway/agent/announce/announcer-contract.testing.ts';
import { isAvailable } from '../../services/missing.ts';
import { logTail } from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { Topology, type GatewayName } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const program = path.join(import.meta.dirname, 'programs', 'run-announcer.ts');

/** Calls the operations of the announcer that `run-announcer.ts` runs behind the socket. */
class RemoteAnnouncer implements ContractGateway {
  readonly #dispatcher: Agent;

  constructor(socketPath: string) {
    this.#dispatcher = new Agent({ connect: { socketPath } });
  }

  async announced(): Promise<ReadonlySet<Address>> {
    return new Set((await this.#call('announced')) as Address[]);
  }

  async test(addresses: ReadonlySet<Address>): Promise<void> {
    await this.#call('test', [...addresses]);
  }

  async announce(addresses: ReadonlySet<Address>): Promise<void> {
    await this.#call('announce', [...addresses]);
  }

  async withdraw(addresses: ReadonlySet<Address>): Promise<void> {
    await this.#call('withdraw', [...addresses]);
  }

  async withdrawAll(cause: string, reason: string): Promise<void> {
    await this.#call('withdrawAll', cause, reason);
  }

  async resume(cause: string): Promise<void> {
    await this.#call('resume', cause);
  }

  async drain(): Promise<void> {
    await this.#call('drain');
  }

  async status(): Promise<AnnouncerStatus> {
    return { reason: undefined, ...((await this.#call('status')) as object) } as AnnouncerStatus;
  }

  async changes(): Promise<readonly string[]> {
    return (await this.#call('changes')) as string[];
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }

  async #call(...words: readonly unknown[]): Promise<unknown> {
    const { statusCode, body } = await request('http://localhost', {
      method: 'POST',
      body: JSON.stringify(words),
      dispatcher: this.#dispatcher,
    });
    const answer = await body.text();
    if (statusCode !== 200) throw new Error(`${words.join(' ')}: ${answer}`);
    return JSON.parse(answer);
  }
}

async function startAnnouncer(topology: Topology, name: GatewayName): Promise<RemoteAnnouncer> {
  const socket = path.join(topology.directory, `${name}.sock`);
  const config = await topology.writeConfig(name, {});
  const child = topology.start(name, `announcer-${name}`, [program, config, socket]);
  const announcer = new RemoteAnnouncer(socket);
  await waitFor(`the announcer of ${name}`, () => {
    if (!child.isRunning()) throw new HopelessError(logTail(topology.log(`announcer-${name}`)));
    return announcer.status();
  });
  return announcer;
}

describe.skipIf(!isRunnable)('with keepalived', () => {
  announcerContract('keepalived', async () => {
    const topology = await Topology.start();
    const first = await startAnnouncer(topology, 'g1');
    const second = await startAnnouncer(topology, 'g2');
    return {
      gateways: [first, second],
      async stop() {
        await Promise.all([first.close(), second.close()]);
        await topology.stop();
      },
    };
  });
});
