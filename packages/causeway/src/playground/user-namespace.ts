import { spawn } from 'node:child_process';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram } from '@causeway/base/process/run-program';

const variable = 'CAUSEWAY_USER_NAMESPACE';
const words = ['--user', '--map-root-user', '--mount'] as const;

/** Whether this process was started by `enterUserNamespace`. */
export function isInUserNamespace(): boolean {
  return process.env[variable] !== undefined;
}

/** Why only root may create network namespaces here; undefined if every user may. */
export async function whyNoUserNamespace(): Promise<string | undefined> {
  try {
    const { code, stderr } = await runProgram('unshare', [...words, 'true']);
    return code === 0 ? undefined : stderr.trim();
  } catch (error) {
    return CausewayError.from(error).message;
  }
}

/**
 * Runs this command again as root of a new user namespace, and returns its exit code. It stays in the host's
 * network, so that its parent can reach it. It notices the end of this process, however it ends, because the
 * channel between them closes.
 */
export function enterUserNamespace(signal: AbortSignal): Promise<number> {
  const [script = '', ...args] = process.argv.slice(1);
  return new Promise((resolve, reject) => {
    const child = spawn(
      'unshare',
      [...words, process.execPath, ...process.execArgv, script, ...args],
      {
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        env: { ...process.env, [variable]: '1' },
      },
    );
    signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Mounts a private `/run` for the names of network namespaces. */
export async function prepareUserNamespace(): Promise<void> {
  const { code, stderr } = await runProgram('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
  if (code !== 0) throw new CausewayError('unsupported', stderr.trim());
}
