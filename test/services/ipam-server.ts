import path from 'node:path';
import { request } from 'undici';
import { freePorts } from './free-port.ts';
import { logTail, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { HopelessError, waitFor } from './wait-for.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);

export interface IpamServer {
  readonly url: string;
  readonly port: number;
  process: ServiceProcess;
  /** Restarts it on the same port after it was killed. */
  restart(): Promise<void>;
}

/** The allocator's server as its own process. */
export async function startIpamServer(
  directory: string,
  name: string,
  args: readonly string[],
): Promise<IpamServer> {
  const [port = 0, healthPort = 0] = await freePorts(2);
  const logFile = path.join(directory, `${name}.log`);
  const start = () =>
    startServiceProcess(
      process.execPath,
      [
        ...[main, 'ipam', 'serve', ...args],
        ...['--listen-port', String(port), '--metrics-port', String(healthPort)],
        ...['--rate-limit-per-second', '100000', '--rate-limit-burst', '100000'],
      ],
      { logFile },
    );
  const server: IpamServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    process: start(),
    async restart() {
      await server.process.exited;
      server.process = start();
      await ready();
    },
  };
  const ready = () =>
    waitFor(`${name} to be ready`, async () => {
      if (!server.process.isRunning()) throw new HopelessError(`it ended:\n${logTail(logFile)}`);
      const answer = await request(`http://127.0.0.1:${healthPort}/readyz`);
      await answer.body.dump();
      return answer.statusCode === 200;
    });
  await ready();
  return server;
}
