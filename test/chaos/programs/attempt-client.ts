// A client that connects to every Service again and again. Usage: attempt-client.ts EVERY-MS LIMIT-MS. Reads
// one line for each change of the targets, a JSON list of { key, host, port }; prints one line for each
// answer or failure.

import net from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attempt, Target } from '../attempt.ts';

const [everyMs = 0, limitMs = 0] = process.argv.slice(2).map(Number);
let targets: readonly Target[] = [];

createInterface({ input: process.stdin })
  .on('line', (line) => (targets = JSON.parse(line) as Target[]))
  .on('close', () => process.exit(0));

for (;;) {
  // In parallel: a target that does not answer delays no other.
  for (const target of targets) void probeTcp(target);
  await delay(everyMs);
}

async function probeTcp(target: Target): Promise<void> {
  const beganAt = Date.now();
  const outcome = await connect(target).then(
    (said) => ({ said }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
  );
  const attempt: Attempt = { key: target.key, beganAt, tookMs: Date.now() - beganAt, ...outcome };
  process.stdout.write(`${JSON.stringify(attempt)}\n`);
}

function connect({ host, port }: Target): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port });
    let said = '';
    socket.setTimeout(limitMs, () => socket.destroy(new Error('no answer')));
    socket.on('data', (chunk) => (said += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => (said === '' ? reject(new Error('no data')) : resolve(said)));
  });
}
