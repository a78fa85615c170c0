import { z } from 'zod';
import { announcerNames } from './announcer.ts';

/** The settings of the pool provider, `pool` in the controller's. */
export const poolSettings = z.strictObject({
  enabled: z.boolean().default(false).describe('serve Services with addresses of a shared pool'),
  servers: z
    .array(z.url({ protocol: /^https?$/ }))
    .default([])
    .describe('where `causeway ipam serve` listens; the next is tried when one fails'),
  site: z.string().min(1).optional().describe('the site that this cluster belongs to'),
  cluster: z.string().min(1).optional().describe("this cluster's name in the ledger"),
  tokenFile: z.string().min(1).optional().describe("file with this cluster's credential"),
  authorityFile: z
    .string()
    .min(1)
    .optional()
    .describe("PEM file of the authority of the servers' certificates"),
  announcer: z
    .enum(['auto', ...announcerNames])
    .default('auto')
    .describe('who announces the addresses; auto looks what is installed'),
  node: z
    .string()
    .min(1)
    .optional()
    .describe(
      'node whose own address serves with the announcer node; else one of the control plane',
    ),
  classes: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'further load balancer classes to serve: those that the announcer was told to look at',
    ),
  heartbeatSeconds: z.number().min(1).default(10).describe('how often the ledger hears of us'),
  selfWithdrawal: z
    .boolean()
    .default(false)
    .describe(
      'stop announcing when the ledger was not heard of for the time that it has for this cluster',
    ),
  withdrawalSeconds: z
    .number()
    .min(0)
    .default(30)
    .describe('how long to look for the end of an announcement before it goes to quarantine'),
});

export type PoolSettings = z.output<typeof poolSettings>;
