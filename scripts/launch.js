// Runs a script of this clone under the pinned Node with its dependencies. Plain JavaScript for Node 20 and
// newer, because it runs before either is installed.
//
// node scripts/launch.js scripts/test.ts [arguments]

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const oldestNode = 24;

const isNewEnough = Number(process.versions.node.split('.')[0]) >= oldestNode;

/** The Node that the lock file pins, or the running one if that package does not exist. */
function pinnedNode(from) {
  for (let dir = from; ; dir = path.dirname(dir)) {
    const candidate = path.join(
      dir,
      'node_modules',
      `node-${process.platform}-${process.arch}`,
      'bin',
      'node',
    );
    if (fs.existsSync(candidate)) return candidate;
    if (dir === path.dirname(dir)) break;
  }
  if (isNewEnough) return process.execPath;
  return fail(
    `Node ${oldestNode} or newer is needed, this is ${process.version}, and no pinned Node is installed for ` +
      `${process.platform}-${process.arch}. Install a newer Node, or run "npm ci" where optional dependencies are allowed.`,
  );
}

/** Exit code of the system's loader for a program with missing libraries. */
const notLoaded = 127;

/** Runs the pinned Node, or the running one if the pinned one can't be loaded. Returns its exit code. */
export async function runNode(args, options, from = root) {
  const node = pinnedNode(from);
  const code = await run(node, args, options);
  if (code !== notLoaded || node === process.execPath) return code;
  if (isNewEnough) return run(process.execPath, args, options);
  return fail(
    `the pinned Node lacks a library of the system, named above. On Debian and Ubuntu, as root: ` +
      `apt-get install libatomic1. Or use Node ${oldestNode} or newer, which is taken instead.`,
  );
}

/**
 * Whether npm installs everything under this Node: it leaves out optional packages that need a newer one
 * without a message, and Causeway's tools include such packages.
 */
export function canInstall(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major === 20) return minor >= 19;
  return major > 22 || (major === 22 && minor >= 12);
}

/** Whether npm installs a package of the lock file on a platform. Without a field, it does on every platform. */
function isFor({ os: systems, cpu, libc }, platform) {
  const matches = (field, value) => {
    const allowed = [field ?? []].flat();
    if (allowed.includes(`!${value}`)) return false;
    return allowed.every((each) => each.startsWith('!')) || allowed.includes(value);
  };
  return (
    matches(systems, platform.os) && matches(cpu, platform.cpu) && matches(libc, platform.libc)
  );
}

const hostPlatform = () => ({
  os: process.platform,
  cpu: process.arch,
  libc: process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc',
});

/**
 * Whether npm's record of the installed packages (`node_modules/.package-lock.json`) is complete for a lock
 * file. A package may be missing only if it is optional and for another platform, or if only such packages
 * can need it, which have no platform of their own.
 */
export function isInstalled(lock, record, platform = hostPlatform()) {
  const isSame = (one, other) =>
    one.version === other.version && one.integrity === other.integrity && one.link === other.link;
  const isPresent = ([name, wanted]) => {
    const found = record.packages?.[name];
    if (found !== undefined) return isSame(wanted, found);
    if (wanted.optional !== true) return false;
    return (wanted.os ?? wanted.cpu ?? wanted.libc) === undefined || !isFor(wanted, platform);
  };
  const wanted = Object.entries(lock.packages).filter(([name]) => name !== '');
  const isExtra = (name) => lock.packages[name] === undefined;
  return wanted.every(isPresent) && !Object.keys(record.packages ?? {}).some(isExtra);
}

/** Whether a manual "npm ci" has installed the packages of the lock file. */
function wasInstalledByHand(lockFile) {
  try {
    const record = path.join(root, 'node_modules', '.package-lock.json');
    const [lock, installed] = [lockFile, record].map((file) => JSON.parse(fs.readFileSync(file)));
    return isInstalled(lock, installed);
  } catch {
    return false;
  }
}

/** Installs the packages of the lock file, unless exactly those are installed. */
export async function ensureDependencies() {
  const lockFile = path.join(root, 'package-lock.json');
  if (!fs.existsSync(lockFile)) return;
  if (!canInstall(process.versions.node)) {
    fail(`Node 20.19 or newer is needed in a clone (of 22: 22.12), this is ${process.version}.`);
  }
  const wanted = createHash('sha256').update(fs.readFileSync(lockFile)).digest('hex');
  const stamp = path.join(root, 'node_modules', '.installed-lock');
  const installed = () => fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
  if (installed()) return;
  const release = await lockInstall();
  try {
    if (installed()) return;
    if (wasInstalledByHand(lockFile)) {
      fs.writeFileSync(stamp, wanted);
      return;
    }
    process.stderr.write(
      'Installing dependencies (once for each change of package-lock.json)...\n',
    );
    const code = await run('npm', [
      'ci',
      '--ignore-scripts',
      '--no-fund',
      '--no-audit',
      '--loglevel=error',
    ]);
    if (code !== 0)
      fail(`"npm ci" failed with code ${code}: the package registry must be reachable once.`);
    fs.writeFileSync(stamp, wanted);
  } finally {
    release();
  }
}

/** Two launches at once must not install over each other; the lock of an ended process is taken over. */
async function lockInstall() {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const lock = path.join(os.tmpdir(), `causeway-install-${name}.lock`);
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return () => fs.rmSync(lock, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isAlive(readPid(lock))) fs.rmSync(lock, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function readPid(file) {
  try {
    return Number(fs.readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Runs a program in the foreground, forwards signals, and returns its exit code. Through the channel between
 * them a Node program notices when this process has ended, however it ended.
 */
function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      cwd: root,
      ...options,
    });
    const forward = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(signal === null ? code : 128 + (os.constants.signals[signal] ?? 0));
    });
  });
}

function fail(message) {
  process.stderr.write(`causeway: ${message}\n`);
  process.exit(1);
}

if (
  process.argv[1] !== undefined &&
  fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
) {
  const words = process.argv.slice(2);
  const flags = words.slice(
    0,
    words.findIndex((word) => !word.startsWith('--')),
  );
  const [script, ...args] = words.slice(flags.length);
  if (script === undefined) fail('usage: node scripts/launch.js [NODE FLAGS] SCRIPT [arguments]');
  await ensureDependencies();
  const env = {
    ...process.env,
    PATH: `${path.join(root, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH}`,
  };
  process.exit(await runNode([...flags, path.join(root, script), ...args], { env }));
}
