import { expect, test } from 'vitest';
import { connectionRoom, descriptorLimit, readDescriptorLimit } from './descriptor-limit.ts';

test.each([
  [8_192, undefined, 8_192],
  [8_192, 1_048_576, 8_192],
  [8_192, 1_024, 384],
  [8_192, 100, 1],
])('%i connections with %s descriptors: %i', (wanted, descriptors, room) => {
  expect(connectionRoom(wanted, descriptors)).toBe(room);
});

test("reads the limit from the kernel's text", () => {
  const line = (soft: string) =>
    `Max processes   7  7  processes\nMax open files  ${soft}  9  files\n`;
  expect(readDescriptorLimit(line('4096'))).toBe(4_096);
  expect(readDescriptorLimit(line('unlimited'))).toBeUndefined();
  expect(descriptorLimit()).toBeGreaterThan(0);
});
