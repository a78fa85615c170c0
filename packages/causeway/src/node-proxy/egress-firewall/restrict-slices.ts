import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { EgressPolicy } from './egress-rules.ts';
import { judgeSlice, type HiddenJudgement, type JudgeContext } from './judge.ts';

/** The egress firewall of one namespace. */
export interface EgressRestrictions extends JudgeContext {
  /** In the order of their names. */
  readonly policies: readonly EgressPolicy[];
}

export interface HiddenSlice {
  readonly slice: EndpointSlice;
  readonly judgement: HiddenJudgement;
}

export interface RestrictedSlices {
  readonly shown: readonly EndpointSlice[];
  readonly hidden: readonly HiddenSlice[];
}

/**
 * Hides slices with endpoints that the egress firewall of the namespace denies. This is the first stage of
 * the pipeline, so no later stage uses a denied endpoint, neither for the rules nor to end the idle state.
 */
export function restrictSlices(
  slices: readonly EndpointSlice[],
  { policies, ...context }: EgressRestrictions,
): RestrictedSlices {
  if (policies.length === 0) return { shown: slices, hidden: [] };
  const shown: EndpointSlice[] = [];
  const hidden: HiddenSlice[] = [];
  for (const slice of slices) {
    const judgement = judgeSlice(slice, policies, context);
    if (judgement.kind === 'shown') shown.push(slice);
    else hidden.push({ slice, judgement });
  }
  return { shown, hidden };
}
