import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { LayoutChange, Removed } from '@causeway/nftables/compile/layout-change';
import type { ServiceKey } from '@causeway/nftables/compile/virtual-service';
import type { Log } from '@causeway/base/observability/log';
import type { Change, GatewayState } from '../store/state.ts';
import type { Step } from '../store/change-lines.ts';
import type { AddressAnnouncer } from '../announce/announcer.ts';
import {
  addressesAfter,
  addressesOf,
  removalsWithAddress,
  stateAfter,
  toLayoutChange,
  type UnhealthyAddresses,
  type StateView,
} from './layout-input.ts';
import type { RulesetWriter } from './ruleset-writer.ts';

/** All external effects of an apply, in one place, so that a test can stop it at every call. */
export interface ApplyEffects {
  readonly ruleset: RulesetWriter;
  readonly announcer: AddressAnnouncer;
  /** Stores the accepted step. A disk that accepts no writes is a problem of the store, not of the step. */
  persist(step: Step): Promise<void>;
}

/** The steps of an apply. Their order ensures that only served addresses are announced. */
export interface ApplyPlan {
  /** All additions and changes, and removals from addresses that stay. */
  readonly first: LayoutChange;
  /** The addresses to announce; undefined if they don't change. */
  readonly addresses: ReadonlySet<Address> | undefined;
  /** Frontends that are removed with their address, after its withdrawal. */
  readonly last: LayoutChange | undefined;
}

export interface Applied {
  /** Whether the kernel had to be written to. */
  readonly wrote: boolean;
  readonly removedBackends: readonly Removed[];
}

/** The plan to apply: brings everything that the change touches to its new state. */
export function planApply(
  state: GatewayState,
  change: Change,
  unhealthy: UnhealthyAddresses,
): ApplyPlan {
  return planTowards(stateAfter(state, change), change, addressesAfter(state, change), unhealthy);
}

/**
 * The plan to roll back: brings everything that the change touches to its old state, in the same safe order.
 */
function planReturn(
  state: GatewayState,
  change: Change,
  plan: ApplyPlan,
  unhealthy: UnhealthyAddresses,
): ApplyPlan {
  const addresses =
    plan.addresses === undefined ? undefined : addressesOf(state.frontends.values());
  return planTowards(state, change, addresses, unhealthy);
}

function planTowards(
  view: StateView,
  change: Change,
  addresses: ReadonlySet<Address> | undefined,
  unhealthy: UnhealthyAddresses,
): ApplyPlan {
  const whole = toLayoutChange(view, change, unhealthy);
  const late =
    addresses === undefined ? new Set<ServiceKey>() : removalsWithAddress(view, change, addresses);
  if (late.size === 0) return { first: whole, addresses, last: undefined };
  const remove = (whole.remove ?? []).filter((key) => !late.has(key));
  return { first: { ...whole, remove }, addresses, last: { remove: [...late] } };
}

/** A failed rollback. The agent must first bring the kernel to the stored state. */
export class RollbackFailed extends CausewayError {}

/**
 * Applies a change completely or not at all: if a step fails, the earlier steps are rolled back. The last
 * step stores the change as the accepted configuration.
 */
export async function applyChange(
  state: GatewayState,
  step: Step,
  unhealthy: UnhealthyAddresses,
  effects: ApplyEffects,
  log: Log,
  signal: AbortSignal,
): Promise<Applied> {
  const plan = planApply(state, step.change, unhealthy);
  if (plan.addresses !== undefined) await effects.announcer.test(plan.addresses, signal);
  try {
    const applied = await carryOut(plan, effects, signal);
    await effects.persist(step);
    return applied;
  } catch (error) {
    log.warn({ error: CausewayError.from(error) }, 'the change failed; rolling back');
    await goBack(planReturn(state, step.change, plan, unhealthy), effects);
    throw error;
  }
}

async function carryOut(
  plan: ApplyPlan,
  { ruleset, announcer }: ApplyEffects,
  signal: AbortSignal,
): Promise<Applied> {
  const first = await ruleset.commit(plan.first, signal);
  if (plan.addresses !== undefined) await announcer.announce(plan.addresses, signal);
  const last = plan.last === undefined ? undefined : await ruleset.commit(plan.last, signal);
  return {
    wrote: first.wrote || last?.wrote === true,
    removedBackends: [...first.removedBackends, ...(last?.removedBackends ?? [])],
  };
}

/**
 * Runs the whole rollback plan, independent of how far the apply went. Parts that are already in place are
 * not written.
 */
async function goBack(plan: ApplyPlan, effects: ApplyEffects): Promise<void> {
  try {
    await carryOut(plan, effects, new AbortController().signal);
  } catch (error) {
    throw new RollbackFailed('internal', 'the change failed, and so did its rollback', {
      cause: error,
    });
  }
}
