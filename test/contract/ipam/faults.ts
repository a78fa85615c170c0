import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../packages/base/src/simulation/random.ts';
import type { Fleet } from './fleet.ts';

/** Injects one fault after the other until the time is over, then ends all faults. */
export async function breakThings(
  fleet: Fleet,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const { etcd, servers, lines } = fleet;
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const faults: (() => Promise<unknown>)[] = [
    async () => {
      const server = pick(servers);
      server.process.kill('SIGKILL');
      await server.restart();
    },
    async () => {
      const server = pick(servers);
      server.process.kill('SIGSTOP');
      await delay(2_000);
      server.process.kill('SIGCONT');
    },
    async () => {
      const member = Math.floor(random() * 3);
      etcd.signal(member, 'SIGKILL');
      await etcd.restart(member);
    },
    () => etcd.moveLeader(Math.floor(random() * 3)),
    () => etcd.compact(),
    () => Promise.resolve(lines.forEach((line) => line.cut())),
    () => Promise.resolve(pick(lines).cut()),
  ];
  for (let index = 0; !isOver(); index += 1) {
    // Each at least once in order, then at random.
    const fault = faults[index] ?? pick(faults);
    await fault().catch(() => undefined);
    await delay(300 + random() * 700);
  }
}
