import { z } from 'zod';

/** The settings of idling, `idling` in the controller's. */
export const idlingSettings = z.strictObject({
  enabled: z.boolean().default(false).describe('wake Services that sleep when a client connects'),
  automatic: z
    .boolean()
    .default(true)
    .describe('put Services to sleep that are annotated with causeway.dev/idle-after'),
  reportNamespace: z.string().min(1).default('kube-system').describe('where nodes report activity'),
});

export type IdlingSettings = z.output<typeof idlingSettings>;
