import { runOrThrow, runProgram } from '../run-program.ts';
import { logTail, startServiceProcess, type ServiceProcess } from '../service-process.ts';
import { waitFor } from '../wait-for.ts';
import { databaseSocket, file, type Layout } from './layout.ts';

export const databases = ['keystone', 'neutron', 'octavia'];

/** mariadbd refuses to run as root without this option. */
const asThisUser = process.getuid?.() === 0 ? ['--user=root'] : [];

export async function createDatabase(layout: Layout): Promise<void> {
  await runOrThrow('mariadb-install-db', [
    '--no-defaults',
    ...asThisUser,
    `--datadir=${file(layout, 'mysql')}`,
    '--innodb-log-file-size=16M',
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]);
}

/** MariaDB on a socket file only, without durability. */
export async function startDatabase(layout: Layout): Promise<ServiceProcess> {
  const logFile = file(layout, 'mariadb.out');
  const server = startServiceProcess(
    'mariadbd',
    [
      '--no-defaults',
      ...asThisUser,
      `--datadir=${file(layout, 'mysql')}`,
      `--socket=${databaseSocket(layout)}`,
      '--skip-networking',
      '--skip-log-bin',
      '--performance-schema=OFF',
      '--character-set-server=utf8mb3',
      '--max-connections=400',
      '--innodb-buffer-pool-size=128M',
      '--innodb-log-file-size=16M',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-flush-method=O_DIRECT_NO_FSYNC',
      '--skip-innodb-doublewrite',
    ],
    { logFile },
  );
  await waitFor('MariaDB', async () => {
    if (!server.isRunning()) throw new Error(`mariadbd ended:\n${logTail(logFile)}`);
    return (await runProgram('mariadb', clientArguments(layout, 'select 1'))).code === 0;
  });
  return server;
}

export async function sql(layout: Layout, statement: string): Promise<void> {
  await runOrThrow('mariadb', clientArguments(layout, statement));
}

function clientArguments(layout: Layout, statement: string): string[] {
  return ['--no-defaults', '-S', databaseSocket(layout), '-uroot', '-N', '-e', statement];
}
