import path from 'node:path';
import { request } from 'undici';
import { freePorts } from './free-port.ts';
import { ensureProgram } from './programs.ts';
import { logTail, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { HopelessError, waitFor } from './wait-for.ts';

export interface EtcdServer {
  readonly url: string;
  readonly process: ServiceProcess;
  /** Discards the history, so that a watch from an old revision is expired. */
  compact(): Promise<void>;
}

/** One etcd without fsync, for a kube-apiserver. */
export async function startEtcdServer(directory: string): Promise<EtcdServer> {
  const program = await ensureProgram('etcd');
  const [clientPort, peerPort] = await freePorts(2);
  const url = `http://127.0.0.1:${clientPort}`;
  const logFile = path.join(directory, 'etcd.log');
  const server = startServiceProcess(
    program,
    [
      `--data-dir=${path.join(directory, 'etcd')}`,
      ...[`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      '--unsafe-no-fsync',
    ],
    { logFile },
  );
  await waitFor('etcd to be healthy', async () => {
    if (!server.isRunning()) throw new HopelessError(`etcd ended:\n${logTail(logFile)}`);
    const { statusCode, body } = await request(`${url}/health`);
    await body.dump();
    return statusCode === 200;
  });
  return { url, process: server, compact: () => compact(url) };
}

async function compact(url: string): Promise<void> {
  const call = async (name: string, body: object) => {
    const answer = await request(`${url}/v3/kv/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (answer.statusCode !== 200) throw new Error(`etcd ${name}: ${await answer.body.text()}`);
    return answer.body.json();
  };
  const range = (await call('range', { key: 'AA==' })) as { header: { revision: string } };
  await call('compaction', { revision: range.header.revision, physical: true });
}
