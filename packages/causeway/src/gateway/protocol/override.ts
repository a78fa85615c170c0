import { z } from 'zod';

export const overrideRecord = z.strictObject({ since: z.number(), reason: z.string().max(200) });
export type Override = z.infer<typeof overrideRecord>;

/** The decisions that an operator can take for a gateway. */
export const overrideNames = ['frozen', 'drained', 'removal'] as const;
export type OverrideName = (typeof overrideNames)[number];
