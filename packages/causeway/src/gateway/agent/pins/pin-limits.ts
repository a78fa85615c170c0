import type { PinLimits } from './pin-table.ts';

/** A pin stays for this time without a renewal, for example while no controller hands renewals over. */
export const pinTimeoutMs = 24 * 3_600_000;

/** The maps of the kernel hold 65,535 elements for each family. */
export const pinLimits: PinLimits = {
  perFrontend: 16_384,
  total: 60_000,
  timeoutMs: pinTimeoutMs,
};
