import path from 'node:path';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { createOperator } from '../../../packages/causeway/src/ipam/init.ts';
import {
  startReplica,
  type Replica,
  type ReplicaOptions,
} from '../../../packages/causeway/src/ipam/replica.ts';
import { SqliteLedger } from '../../../packages/causeway/src/ipam/sqlite-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';

export const never = new AbortController().signal;

export interface ServerUnderTest {
  readonly replica: Replica;
  readonly operatorToken: string;
  readonly operator: IpamClient;
  /** A client with this token, closed with the server. */
  client(token: string | undefined): IpamClient;
  stop(): Promise<void>;
}

/** A server on an embedded ledger, with an operator. */
export async function startServer(more: Partial<ReplicaOptions> = {}): Promise<ServerUnderTest> {
  const directory = await scratchDirectory('ipam');
  const ledger = await SqliteLedger.open(path.join(directory, 'ipam.db'));
  const operatorToken = await createOperator(ledger, 'test', Date.now(), never);
  const replica = await startReplica({
    ledger,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    host: '127.0.0.1',
    port: 0,
    rateLimit: { perSecond: 10_000, burst: 10_000 },
    auditRetentionMs: 86_400_000,
    signal: never,
    ...more,
  });
  const clients: IpamClient[] = [];
  const client = (token: string | undefined) => {
    const show = token === undefined ? {} : { token: () => Promise.resolve(token) };
    const made = new IpamClient({ urls: [replica.url], ...show, clock: systemClock });
    clients.push(made);
    return made;
  };
  return {
    replica,
    operatorToken,
    operator: client(operatorToken),
    client,
    async stop() {
      for (const each of clients) await each.close();
      await replica.stop();
      await removeDirectory(directory);
    },
  };
}
