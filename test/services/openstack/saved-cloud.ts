import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';
import { withFileLock } from '../file-lock.ts';
import { runOrThrow } from '../run-program.ts';
import { removeDirectory, scratchDirectory } from '../scratch.ts';
import type { ServiceProcess } from '../service-process.ts';
import { writeConfiguration } from './configuration.ts';
import { createDatabase, databases, sql, startDatabase } from './database.ts';
import { defaultSettings, file, region, type Layout } from './layout.ts';
import { accounts, seedIdentity, seedInfrastructure } from './seed.ts';
import { environment, python, startService, workingDirectory } from './services.ts';

/** Files that a cloud can't start without, and that take long to create. */
const saved = ['mysql', 'keystone/fernet', 'keystone/credential', 'octavia/certificates'];

/**
 * The archive of a cloud that was migrated and seeded once; created if missing. Its name contains a hash of
 * all inputs, so a stale one is never used.
 */
export async function ensureSavedCloud(
  packages: readonly string[],
  layoutIn: (directory: string) => Promise<Layout>,
): Promise<string> {
  const folder = cacheDirectory('openstack');
  const archive = path.join(folder, `${await fingerprint(packages)}.tar`);
  if (await exists(archive)) return archive;
  await withFileLock(path.join(folder, 'build.lock'), async () => {
    if (await exists(archive)) return;
    process.stderr.write('Making the databases of the test cloud (once; about 25 s)...\n');
    const directory = await scratchDirectory('openstack-build');
    try {
      await build(await layoutIn(directory));
      const unfinished = `${archive}.${process.pid}`;
      await runOrThrow('tar', ['-C', directory, '-cf', unfinished, ...saved]);
      await removeOthers(folder, path.basename(unfinished));
      await fs.rename(unfinished, archive);
    } finally {
      await removeDirectory(directory);
    }
  });
  return archive;
}

/** Restores the saved cloud into a directory; the catalog still needs the new addresses. */
export async function restoreCloud(archive: string, layout: Layout): Promise<void> {
  await runOrThrow('tar', ['-C', layout.directory, '-xf', archive]);
}

export async function correctCatalog(layout: Layout): Promise<void> {
  const urls = {
    identity: `${layout.identityUrl}/v3`,
    network: layout.networkUrl,
    'load-balancer': layout.loadBalancerUrl,
  };
  const statements = Object.entries(urls).map(
    ([type, url]) =>
      `update endpoint e join service s on s.id = e.service_id set e.url = '${url}' where s.type = '${type}';`,
  );
  await sql(layout, `use keystone; ${statements.join(' ')}`);
}

async function build(layout: Layout): Promise<void> {
  await writeConfiguration(layout, defaultSettings);
  await createDatabase(layout);
  const running: ServiceProcess[] = [await startDatabase(layout)];
  try {
    await sql(layout, databases.map((name) => `create database ${name};`).join(' '));
    await Promise.all([prepareKeystone(layout), migrateOthers(layout), makeAuthority(layout)]);
    running.push(await startService('keystone', layout, defaultSettings));
    await seedIdentity(layout);
    const others = ['neutron', 'octavia'] as const;
    for (const name of others) running.push(await startService(name, layout, defaultSettings));
    await seedInfrastructure(layout);
  } finally {
    for (const service of running.reverse()) await service.stop();
  }
}

async function prepareKeystone(layout: Layout): Promise<void> {
  const manage = (...args: string[]) =>
    execute('keystone-manage', [
      '--config-file',
      file(layout, 'keystone', 'keystone.conf'),
      ...args,
    ]);
  await manage('db_sync');
  const owner = process.getuid?.() === 0 ? ['--keystone-user=root', '--keystone-group=root'] : [];
  for (const keys of ['fernet', 'credential']) {
    await fs.mkdir(file(layout, 'keystone', keys), { mode: 0o700 });
    await manage(`${keys}_setup`, ...owner);
  }
  const url = `${layout.identityUrl}/v3`;
  await manage(
    'bootstrap',
    '--bootstrap-password',
    accounts.admin.password,
    '--bootstrap-region-id',
    region,
    ...['admin', 'public', 'internal'].flatMap((name) => [`--bootstrap-${name}-url`, url]),
  );
}

async function migrateOthers(layout: Layout): Promise<void> {
  await execute(python, [
    '-c',
    'import sys; from neutron.db.migration.cli import main; sys.exit(main())',
    '--config-file',
    file(layout, 'neutron', 'neutron.conf'),
    'upgrade',
    'heads',
  ]);
  await execute('octavia-db-manage', [
    '--config-file',
    file(layout, 'octavia', 'octavia.conf'),
    'upgrade',
    'head',
  ]);
}

async function makeAuthority(layout: Layout): Promise<void> {
  await fs.mkdir(file(layout, 'octavia', 'certificates'));
  await runOrThrow('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '3650',
    '-subj',
    '/CN=amphorae',
    '-keyout',
    file(layout, 'octavia', 'certificates', 'ca.key'),
    '-out',
    file(layout, 'octavia', 'certificates', 'ca.pem'),
  ]);
}

function execute(program: string, args: readonly string[]): Promise<string> {
  return runOrThrow(program, args, {
    env: environment,
    cwd: workingDirectory,
    timeoutMs: 300_000,
  });
}

async function fingerprint(packages: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await fs.readdir(import.meta.dirname)).sort()) {
    if (name.endsWith('.ts')) hash.update(await fs.readFile(path.join(import.meta.dirname, name)));
  }
  hash.update(await runOrThrow('dpkg-query', ['--show', ...packages]));
  return hash.digest('hex').slice(0, 16);
}

async function removeOthers(folder: string, keep: string): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    if (name.includes('.tar') && name !== keep) await fs.rm(path.join(folder, name));
  }
}

async function exists(name: string): Promise<boolean> {
  return fs.access(name).then(
    () => true,
    () => false,
  );
}
