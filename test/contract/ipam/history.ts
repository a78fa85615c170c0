import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { Refusal } from '../../../packages/causeway/src/ipam/refusal.ts';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runProgram } from '../../services/run-program.ts';
import { patienceMs } from '../../services/wait-for.ts';
import { never } from './server-under-test.ts';

interface RecordedCall {
  readonly client: number;
  readonly begin: number;
  readonly end: number;
  readonly input: {
    readonly kind: 'reserve' | 'free' | 'holdings' | 'reclaim' | 'heartbeat';
    readonly cluster: string;
    readonly owner?: string;
    readonly fencingToken?: number;
    readonly sharingKey?: string;
    readonly port?: string;
    readonly repeated: boolean;
  };
  readonly output: {
    readonly result: string;
    readonly address?: string;
    readonly fencingToken?: number;
    readonly listed?: Readonly<Record<string, string>>;
    readonly voided?: readonly string[];
    readonly epoch?: string;
  };
}

/** How an owner shares an address with others: those with the same key and other ports. */
export interface Shares {
  readonly sharingKey: string;
  readonly port: string;
}

type Output = RecordedCall['output'];
type Input = Omit<RecordedCall['input'], 'repeated'>;

/** Calls to several servers, each with its begin, its end and its result. */
export class History {
  readonly calls: RecordedCall[] = [];

  /** Sends to one server after the other until there is an answer, and records it as one call. */
  async record(
    client: number,
    servers: readonly IpamClient[],
    input: Input,
    attempt: (server: IpamClient) => Promise<Output>,
  ): Promise<Output> {
    const begin = nanoseconds();
    for (let tries = 0; ; tries += 1) {
      const server = servers[(client + tries) % servers.length];
      if (server === undefined) throw new Error('no server');
      try {
        const output = await attempt(server);
        const end = nanoseconds();
        this.calls.push({ client, begin, end, input: { ...input, repeated: tries > 0 }, output });
        return output;
      } catch (error) {
        const { code } = CausewayError.from(error);
        const isTransient = code === 'unavailable' || code === 'timeout';
        if (!isTransient || nanoseconds() - begin > patienceMs * 1_000) throw error;
        await delay(20);
      }
    }
  }

  /** Sends once. A call that is not idempotent, and lost its answer, may take effect much later, or never. */
  async recordOnce(
    client: number,
    server: IpamClient,
    input: Input,
    attempt: (server: IpamClient) => Promise<Output>,
  ): Promise<void> {
    const begin = nanoseconds();
    const call = { client, begin, input: { ...input, repeated: false } };
    try {
      const output = await attempt(server);
      this.calls.push({ ...call, end: nanoseconds(), output });
    } catch (error) {
      const { code } = CausewayError.from(error);
      if (code !== 'unavailable' && code !== 'timeout') throw error;
      const end = nanoseconds() + longestEffectMs * 1_000;
      this.calls.push({ ...call, end, output: { result: 'unknown' } });
    }
  }

  /** The verdict of the independent checker on the history. */
  async judge(pool: number, quotas: Record<string, number>, timeoutSeconds = 240): Promise<string> {
    const program = await ensureProgram('porcupine');
    const history = { pool, quotas, timeoutSeconds, calls: this.calls };
    const { stdout, stderr } = await runProgram(program, [], {
      input: JSON.stringify(history),
      timeoutMs: (timeoutSeconds + 30) * 1_000,
    });
    const verdict = stdout.trim() + stderr.trim();
    if (verdict !== 'ok') {
      const file = path.join(os.tmpdir(), `causeway-ipam-history-${Date.now()}.json`);
      await fs.writeFile(file, JSON.stringify(history));
      process.stderr.write(`the history is in ${file}\n`);
    }
    return verdict;
  }
}

/** Longer than a server's own limit for a call, and than the time for which one is stopped. */
const longestEffectMs = 30_000;

/** Microseconds would do; the checker needs whole numbers. */
const nanoseconds = () => Math.round(performance.now() * 1_000);

export async function reserveOnce(
  server: IpamClient,
  site: string,
  cluster: string,
  uid: string,
  shares?: Shares,
): Promise<Output> {
  const body = {
    uid,
    ...(shares === undefined ? {} : { sharingKey: shares.sharingKey, ports: [shares.port] }),
  };
  try {
    const answer = await server.call('reserve', { params: { site, cluster }, body }, never);
    if (answer.state !== 'held') return { result: answer.state };
    const { addresses, fencingToken } = answer.reservation;
    return { result: 'held', address: addresses[0]?.address ?? '', fencingToken };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { result: error.reason === 'pool-exhausted' ? 'exhausted' : error.reason };
  }
}

export async function freeOnce(
  server: IpamClient,
  site: string,
  cluster: string,
  uid: string,
  fencingToken: number,
): Promise<Output> {
  try {
    const params = { site, cluster, uid };
    const query = { fencingToken, withdrawn: 'true' as const };
    const { freed } = await server.call('free', { params, query }, never);
    return { result: freed.length === 0 ? 'absent' : 'freed' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { result: error.reason === 'stale-fencing-token' ? 'stale' : error.reason };
  }
}

export async function listOnce(server: IpamClient, site: string, cluster: string): Promise<Output> {
  const answer = await server.call('listReservations', { params: { site, cluster } }, never);
  const listed = answer.items.map(({ uid, addresses }) => [uid, addresses[0]?.address ?? '']);
  return { result: 'listed', listed: Object.fromEntries(listed) as Record<string, string> };
}

export async function reclaimOnce(
  server: IpamClient,
  site: string,
  cluster: string,
): Promise<Output> {
  const input = { params: { site, cluster }, body: { withdrawn: true } };
  const { addresses } = await server.call('reclaimCluster', input, never);
  return { result: 'voided', voided: addresses };
}

export async function beatOnce(server: IpamClient, site: string, cluster: string): Promise<Output> {
  const { epoch } = await server.call('heartbeat', { params: { site, cluster } }, never);
  return { result: 'beaten', epoch };
}

/** A client of one server with a short timeout, so that the next server is tried. */
export function clientOf(url: string, token: string, limitMs = 4_000): IpamClient {
  return new IpamClient({
    urls: [url],
    token: () => Promise.resolve(token),
    clock: systemClock,
    limitMs,
    // The history must contain every repeat.
    attempts: 1,
  });
}
