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
    .describe('the program that announces the addresses; auto detects the installed one'),
  node: z
    .string()
    .min(1)
    .optional()
    .describe('node for the announcer node; otherwise a control plane node'),
  classes: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'further load balancer classes to serve: those that the announcer is configured to serve',
    ),
  heartbeatSeconds: z
    .number()
    .min(1)
    .default(10)
    .describe('interval of the heartbeats to the ledger'),
  selfWithdrawal: z
    .boolean()
    .default(false)
    .describe(
      'stop announcing when the ledger does not answer for the time that it has for this cluster',
    ),
  withdrawalSeconds: z
    .number()
    .min(0)
    .default(30)
    .describe(
      'how long to wait for the end of an announcement before the address goes to quarantine',
    ),
});

export type PoolSettings = z.output<typeof poolSettings>;
