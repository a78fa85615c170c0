import { pinsAtOnce, type PinCursor, type PinSet } from '../../protocol/pins.ts';
import type { PinClient } from './agent-client-contract.ts';

/** The last pins of one gateway that another one has acknowledged. */
export interface Handover {
  /** The process of the receiving agent. */
  readonly epoch: string;
  readonly cursor: PinCursor;
}

/** Resolves when the gateway has acknowledged all of these pins. */
export async function sendPins(
  to: PinClient,
  { set, removed }: PinSet,
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < Math.max(set.length, removed.length); start += pinsAtOnce) {
    const end = start + pinsAtOnce;
    await to.send({ set: set.slice(start, end), removed: removed.slice(start, end) }, signal);
  }
}
