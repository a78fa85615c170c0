import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { restrictSlices, type RestrictedSlices } from './egress-firewall/restrict-slices.ts';
import { decideIdling, type IdleState, type IdlingDecision } from './holder/decide-idling.ts';
import type { ServiceState } from './proxy-store.ts';
import type { Diversion } from './served-service.ts';
import { translateService, type NodeContext, type Translation } from './translate-service.ts';

/** Inputs of the idling stage, beside the store. Undefined if this node does not hold connections. */
export interface IdlingContext {
  readonly before: IdleState | undefined;
  readonly isEnding: boolean;
  readonly now: number;
  readonly graceMs: number;
}

/** Result of the first stages of the pipeline. */
export interface ServicePlan {
  readonly service: Service | undefined;
  readonly slices: RestrictedSlices;
  readonly idling: IdlingDecision;
}

const nothing: Translation = { targets: [], problems: [] };

/** Applies the egress firewall, then decides whether connections are held. */
export function planService(state: ServiceState, idling: IdlingContext | undefined): ServicePlan {
  const { service, unmarkedAt } = state;
  const slices = restrictSlices(state.slices, state.restrictions);
  const decision =
    idling === undefined
      ? { state: undefined, recheckAt: undefined }
      : decideIdling({ service, slices: slices.shown, unmarkedAt, ...idling });
  return { service, slices, idling: decision };
}

/** The rules of a planned Service on this node. A deleted Service has none. */
export function translatePlan(
  { service, slices }: ServicePlan,
  diversion: Diversion | undefined,
  node: NodeContext,
): Translation {
  return service === undefined
    ? nothing
    : translateService({ service, slices: slices.shown, diversion, node });
}
