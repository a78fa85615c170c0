import { expect, test } from 'vitest';
import { usageOf } from './process-usage.ts';

test('of the process that runs the program', async () => {
  const { cpuMs, residentMb } = await usageOf(process.pid, process.execPath);
  expect(cpuMs).toBeGreaterThan(0);
  expect(residentMb).toBeCloseTo(process.memoryUsage.rss() / 1_000_000, -2);
});

test('ignores other processes', async () => {
  await expect(usageOf(process.pid, '/usr/bin/kube-proxy')).rejects.toThrow('no process below');
});
