import { vi } from 'vitest';
import type { OctaviaLab } from './lab.ts';

/** Waits until the Service has its load balancer and a status that shows it. */
export async function untilServed(
  lab: OctaviaLab,
  name: string,
  timeoutMs?: number,
): Promise<void> {
  await until(async () => {
    const condition = (await lab.klb(name))?.status?.conditions?.find(
      ({ type }) => type === 'Ready',
    );
    if (condition?.status !== 'True') throw new Error(`not ready: ${condition?.message}`);
    const isServed = (await lab.service(name))?.status?.conditions?.[0]?.status === 'True';
    if (!isServed) throw new Error(`the Service ${name} has no status that says it is served`);
  }, timeoutMs);
}

/** Real services are slow, and each check takes time. */
export const until = (check: () => Promise<void> | void, timeoutMs = 120_000) =>
  vi.waitFor(check, { timeout: timeoutMs, interval: timeoutMs > 120_000 ? 250 : 20 });
