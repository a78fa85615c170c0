import { z } from 'zod';

/** The settings of idling, `idling` in the controller's. */
export const idlingSettings = z.strictObject({
  enabled: z.boolean().default(false).describe('wake Services that sleep when someone connects'),
});
