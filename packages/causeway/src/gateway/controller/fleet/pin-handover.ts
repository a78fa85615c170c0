import { pinsAtOnce, type PinCursor } from '../../protocol/pins.ts';
import type { PinClient } from './agent-client-contract.ts';

/** The last pins of one gateway that another one has acknowledged. */
export interface Handover {
  /** The process of the receiving agent. */
  readonly epoch: string;
  readonly cursor: PinCursor;
}

/** Hands the changes since the cursor over, and returns the next cursor. */
export async function handOver(
  gateways: {
    readonly from: PinClient;
    readonly to: PinClient;
    readonly since: PinCursor | undefined;
  },
  signal: AbortSignal,
): Promise<PinCursor> {
  const { cursor, set, removed } = await gateways.from.collect(gateways.since, signal);
  for (let start = 0; start < Math.max(set.length, removed.length); start += pinsAtOnce) {
    const end = start + pinsAtOnce;
    const part = { set: set.slice(start, end), removed: removed.slice(start, end) };
    await gateways.to.send(part, signal);
  }
  return cursor;
}
