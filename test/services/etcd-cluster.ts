import fs from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import { issueCertificate, makeAuthority } from './certificates.ts';
import { freePorts } from './free-port.ts';
import { ensureProgram } from './programs.ts';
import { removeDirectory, scratchDirectory } from './scratch.ts';
import { logTail, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { HopelessError, waitFor } from './wait-for.ts';

export interface EtcdClusterOptions {
  readonly members: 1 | 3;
  /** With certificates of a test authority on both sides. */
  readonly tls?: boolean;
  /** Wait for the disk, as in production. Benchmarks do; most tests don't need it. */
  readonly fsync?: boolean;
  /** Port of the first member, instead of a free port. */
  readonly clientPort?: number;
}

export interface EtcdCluster {
  readonly endpoints: readonly string[];
  /** PEM texts for a client, if TLS is on. */
  readonly tls: { ca: string; certificate: string; key: string } | undefined;
  /** Signals a member: SIGKILL ends it, SIGSTOP and SIGCONT pause it. */
  signal(member: number, signal: NodeJS.Signals): void;
  /** Restarts a killed member, and waits until it is healthy. */
  restart(member: number): Promise<void>;
  leader(): Promise<number>;
  moveLeader(to: number): Promise<void>;
  /** Discards the history up to now. */
  compact(): Promise<void>;
  /** Calls the JSON gateway of a member, for requests that only tests need. */
  call(member: number, path: string, body: object): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

interface Member {
  readonly clientUrl: string;
  readonly arguments: readonly string[];
  readonly logFile: string;
  process: ServiceProcess;
}

/** A real etcd of one or three members on free ports of this machine. */
export async function startEtcdCluster(options: EtcdClusterOptions): Promise<EtcdCluster> {
  const directory = await scratchDirectory('etcd');
  const program = await ensureProgram('etcd');
  const tls = options.tls === true ? await makeCertificates(directory) : undefined;
  const ports = await freePorts(options.members * 2);
  if (options.clientPort !== undefined) ports[0] = options.clientPort;
  const scheme = tls === undefined ? 'http' : 'https';
  const clientUrls = ports.slice(0, options.members).map((port) => `${scheme}://127.0.0.1:${port}`);
  const peerUrls = ports.slice(options.members).map((port) => `http://127.0.0.1:${port}`);
  const members = clientUrls.map((clientUrl, index): Member => {
    const logFile = path.join(directory, `member-${index}.log`);
    const args = [
      `--name=m${index}`,
      `--data-dir=${path.join(directory, `m${index}`)}`,
      ...[`--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`],
      ...[
        `--listen-peer-urls=${peerUrls[index]}`,
        `--initial-advertise-peer-urls=${peerUrls[index]}`,
      ],
      `--initial-cluster=${peerUrls.map((url, each) => `m${each}=${url}`).join(',')}`,
      ...['--heartbeat-interval=50', '--election-timeout=500', '--log-level=warn'],
      ...(options.fsync === true ? [] : ['--unsafe-no-fsync']),
      ...(tls?.serverArguments ?? []),
    ];
    const process = startServiceProcess(program, args, { logFile });
    return { clientUrl, arguments: args, logFile, process };
  });
  const cluster = new RunningCluster(directory, program, members, tls?.client);
  await Promise.all(members.map((_, index) => cluster.healthy(index)));
  return cluster;
}

class RunningCluster implements EtcdCluster {
  readonly tls: EtcdCluster['tls'];
  readonly #directory: string;
  readonly #program: string;
  readonly #members: readonly Member[];
  readonly #agent: Agent;

  constructor(
    directory: string,
    program: string,
    members: readonly Member[],
    tls: EtcdCluster['tls'],
  ) {
    this.#directory = directory;
    this.#program = program;
    this.#members = members;
    this.tls = tls;
    this.#agent = new Agent(
      tls === undefined ? {} : { connect: { ca: tls.ca, cert: tls.certificate, key: tls.key } },
    );
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ clientUrl }) => clientUrl);
  }

  signal(member: number, signal: NodeJS.Signals): void {
    this.#member(member).process.kill(signal);
  }

  async restart(index: number): Promise<void> {
    const member = this.#member(index);
    await member.process.exited;
    member.process = startServiceProcess(this.#program, member.arguments, {
      logFile: member.logFile,
    });
    await this.healthy(index);
  }

  async healthy(index: number): Promise<void> {
    const { clientUrl, logFile } = this.#member(index);
    await waitFor(`etcd member ${index} to be healthy`, async () => {
      if (!this.#member(index).process.isRunning()) {
        throw new HopelessError(`etcd ended:\n${logTail(logFile)}`);
      }
      const answer = await request(`${clientUrl}/health`, { dispatcher: this.#agent });
      await answer.body.dump();
      return answer.statusCode === 200;
    });
  }

  async leader(): Promise<number> {
    return waitFor('a leader', async () => {
      for (const index of this.#members.keys()) {
        const status = await this.#status(index).catch(() => undefined);
        if (status !== undefined && status.member === status.leader) return { index };
      }
      return undefined;
    }).then(({ index }) => index);
  }

  async moveLeader(to: number): Promise<void> {
    const { member: targetID } = await this.#status(to);
    await this.call(await this.leader(), 'maintenance/transfer-leadership', { targetID });
  }

  async compact(): Promise<void> {
    const at = await this.leader();
    const { header } = (await this.call(at, 'kv/range', { key: 'AA==' })) as {
      header: { revision: string };
    };
    await this.call(at, 'kv/compaction', { revision: header.revision, physical: true });
  }

  async call(member: number, name: string, body: object): Promise<Record<string, unknown>> {
    const answer = await request(`${this.#member(member).clientUrl}/v3/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      dispatcher: this.#agent,
      headersTimeout: 5_000,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`etcd ${name}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  async stop(): Promise<void> {
    for (const { process } of this.#members) process.kill('SIGKILL');
    await Promise.all(this.#members.map(({ process }) => process.exited));
    await this.#agent.close();
    await removeDirectory(this.#directory);
  }

  async #status(index: number): Promise<{ member: string; leader: string }> {
    const status = (await this.call(index, 'maintenance/status', {})) as {
      header: { member_id: string };
      leader: string;
    };
    return { member: status.header.member_id, leader: status.leader };
  }

  #member(index: number): Member {
    const member = this.#members[index];
    if (member === undefined) throw new Error(`there is no etcd member ${index}`);
    return member;
  }
}

async function makeCertificates(directory: string) {
  const authority = await makeAuthority(directory);
  const server = await issueCertificate(directory, authority, 'etcd', '/CN=etcd', 'IP:127.0.0.1');
  // Without a common name: etcd would take it for a user name.
  const client = await issueCertificate(directory, authority, 'client', '/O=causeway-test');
  const read = (file: string) => fs.readFile(file, 'utf8');
  return {
    serverArguments: [
      ...[`--cert-file=${server.certificate}`, `--key-file=${server.key}`],
      ...[`--trusted-ca-file=${authority.certificate}`, '--client-cert-auth'],
    ],
    client: {
      ca: await read(authority.certificate),
      certificate: await read(client.certificate),
      key: await read(client.key),
    },
  };
}
