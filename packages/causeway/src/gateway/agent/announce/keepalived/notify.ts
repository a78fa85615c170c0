import { constants, open } from 'node:fs';
import fs from 'node:fs/promises';
import net from 'node:net';
import { promisify } from 'node:util';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram } from '@causeway/base/process/run-program';

export type VrrpState = 'MASTER' | 'BACKUP' | 'FAULT' | 'STOP';

const stateWord = /^ (MASTER|BACKUP|FAULT|STOP)\b/;
const longestLine = 1000;
const openDescriptor = promisify(open);

/** The new state of the subject, such as `GROUP "gateway"`, if the line contains one. */
export function parseNotification(line: string, subject: string): VrrpState | undefined {
  if (!line.startsWith(subject)) return undefined;
  return stateWord.exec(line.slice(subject.length))?.[1] as VrrpState | undefined;
}

/** Creates the pipe before keepalived does, so that it survives keepalived's restarts. */
export async function makeFifo(file: string, signal: AbortSignal): Promise<void> {
  const existing = await fs.stat(file).catch(() => undefined);
  if (existing?.isFIFO() === true) return;
  await fs.rm(file, { force: true });
  const outcome = await runProgram('mkfifo', ['-m', '600', file], { signal });
  if (outcome.code !== 0) {
    throw new CausewayError('unavailable', `the pipe ${file} can't be created`, {
      hint: outcome.stderr.trim().slice(0, 200),
    });
  }
}

/**
 * keepalived's state changes as it writes them, including changes written before the pipe was read. The pipe
 * is also open for writing here, so reading never ends.
 */
export async function* readNotifications(
  file: string,
  subject: string,
  signal: AbortSignal,
): AsyncGenerator<VrrpState> {
  // A raw descriptor: the socket owns it from here on and closes it.
  const fd = await openDescriptor(file, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new net.Socket({ fd, readable: true, writable: false });
  const stop = () => socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    let rest = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      const lines = (rest + chunk.toString()).split('\n');
      rest = (lines.pop() ?? '').slice(-longestLine);
      for (const line of lines) {
        const state = parseNotification(line, subject);
        if (state !== undefined) yield state;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}
