import { z } from 'zod';

export const leverRecord = z.strictObject({ since: z.number(), reason: z.string().max(200) });
export type Lever = z.infer<typeof leverRecord>;

/** The decisions that an operator can take for a gateway. */
export const leverNames = ['frozen', 'drained', 'removal'] as const;
export type LeverName = (typeof leverNames)[number];
