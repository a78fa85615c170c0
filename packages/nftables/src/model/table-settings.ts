import { z } from 'zod';

/** The settings of a command that writes a table: its name, and how the rules reach the kernel. */
export const tableSettings = (name: string) => ({
  table: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/)
    .default(name)
    .describe('our table'),
  driver: z
    .enum(['netlink', 'nft', 'memory'])
    .default('netlink')
    .describe('how it is written; memory: nowhere, to try things out'),
});
