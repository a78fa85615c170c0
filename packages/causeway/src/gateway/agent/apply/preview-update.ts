import type { LayoutChange } from '@causeway/nftables/compile/layout-change';
import type { Update } from '../../protocol/update.ts';
import type { GatewayState } from '../store/state.ts';
import { admit } from './admit.ts';
import { stateAfter, toLayoutChange, type UnhealthyAddresses } from './layout-input.ts';
import type { RemovalLimits } from './withhold.ts';

/** The change of the rules that an update would make. Throws if the update would be rejected. */
export function previewUpdate(
  state: GatewayState,
  update: Update,
  digest: string,
  limits: RemovalLimits,
  unhealthy: UnhealthyAddresses,
): LayoutChange {
  const admission = admit(state, update, digest, limits);
  if (admission.verdict === 'repeated') return {};
  const { change } = admission;
  return toLayoutChange(stateAfter(state, change), change, unhealthy);
}
