import { z } from 'zod';

export const overrideRecord = z.strictObject({ since: z.number(), reason: z.string().max(200) });
export type Override = z.infer<typeof overrideRecord>;

/** An operator's decisions for a gateway. */
export const overrideNames = ['frozen', 'drained', 'removal'] as const;
export type OverrideName = (typeof overrideNames)[number];
