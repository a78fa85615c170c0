import { z } from 'zod';
import { listenPort } from '@causeway/base/settings/common-settings';

/** The settings of the dashboard, `dashboard` in the controller's settings. */
export const dashboardSettings = z.strictObject({
  enabled: z.boolean().default(false).describe('serve the dashboard'),
  address: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('where the dashboard listens; * means every address'),
  port: listenPort.default(15206).describe('port of the dashboard'),
  tokenFile: z
    .string()
    .min(1)
    .optional()
    .describe('file with the token for the dashboard; required if the dashboard is enabled'),
  ipam: z
    .strictObject({
      urls: z
        .array(z.url({ protocol: /^https?$/ }))
        .default([])
        .describe('servers of the shared allocator, to show its pools'),
      sites: z.array(z.string().min(1)).default([]).describe('sites of the shown pools'),
      tokenFile: z
        .string()
        .min(1)
        .optional()
        .describe("file with an operator's token of the allocator"),
      authorityFile: z
        .string()
        .min(1)
        .optional()
        .describe("authority of the allocator's certificate"),
    })
    .prefault({}),
});
