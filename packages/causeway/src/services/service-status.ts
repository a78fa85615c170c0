import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Condition } from '@causeway/kubernetes/objects/object';
import { ingressAddress, type Ingress } from './provider.ts';

/** The condition for the state of the load balancer in a Service's status. */
export const readyCondition = 'causeway.dev/LoadBalancerReady';

export interface ConditionText {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The parts of a Service's status that Causeway writes. Undefined parts must be absent. */
export interface WantedStatus {
  readonly ingress: readonly PresentIngress[] | undefined;
  readonly condition: ConditionText | undefined;
}

/** An ingress entry as the API defines it. Other programs can write entries that Causeway would not write. */
export type PresentIngress = NonNullable<
  NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress']
>[number];

/**
 * The ingress entries for the status: first the entries of other programs, which are never removed, then
 * Causeway's own.
 */
export function mergeIngress(
  service: Service,
  recorded: readonly Ingress[],
  wanted: readonly Ingress[],
): readonly PresentIngress[] {
  const mine = new Set([...recorded, ...wanted].map(ingressAddress));
  const present = service.status?.loadBalancer?.ingress ?? [];
  return [...present.filter(({ ip, hostname }) => !mine.has(ip ?? hostname ?? '')), ...wanted];
}

function sameIngress(left: readonly PresentIngress[], right: readonly PresentIngress[]): boolean {
  const text = (entries: readonly PresentIngress[]) =>
    JSON.stringify(
      entries.map(({ ip, hostname, ipMode, ports }) => [ip, hostname, ipMode, ports ?? []]),
    );
  return text(left) === text(right);
}

/** Whether the status of the Service has Causeway's condition, with any content. */
export function hasCondition(service: Service): boolean {
  return conditionOf(service) !== undefined;
}

/** Whether the condition is true, with this message. */
export function saysServed(service: Service, message: string): boolean {
  const condition = conditionOf(service);
  const text = condition?.message ?? '';
  // A note about a limitation may follow.
  return condition?.status === 'True' && (text === message || text.startsWith(`${message}. `));
}

function conditionOf({ status }: Service): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === readyCondition);
}

/** Whether the status reports the Service as served, on these addresses if they are known. */
export function isServed(
  service: Service,
  recorded: readonly Ingress[],
  ingress: readonly Ingress[] | undefined,
): boolean {
  if (conditionOf(service)?.status !== 'True') return false;
  if (ingress === undefined) return true;
  const present = service.status?.loadBalancer?.ingress ?? [];
  return sameIngress(present, mergeIngress(service, recorded, ingress));
}

/**
 * The change that brings Causeway's part of the status to the wanted state, or undefined if nothing changes.
 * Conditions are the whole list, with the conditions of other programs unchanged.
 */
export function statusChange(
  service: Service,
  wanted: WantedStatus,
  now: string,
): { readonly loadBalancer?: object; readonly conditions?: readonly Condition[] } | undefined {
  const present = service.status?.loadBalancer?.ingress ?? [];
  const conditions = service.status?.conditions ?? [];
  const old = conditionOf(service);
  const isIngressNew = wanted.ingress !== undefined && !sameIngress(present, wanted.ingress);
  const isConditionNew = !sameCondition(service, old, wanted.condition);
  if (!isIngressNew && !isConditionNew) return undefined;
  const others = conditions.filter(({ type }) => type !== readyCondition);
  const mine =
    wanted.condition === undefined ? [] : [newCondition(service, old, wanted.condition, now)];
  return {
    ...(isIngressNew ? { loadBalancer: { ingress: wanted.ingress } } : {}),
    ...(isConditionNew ? { conditions: [...others, ...mine] } : {}),
  };
}

function newCondition(
  service: Service,
  old: Condition | undefined,
  wanted: ConditionText,
  now: string,
): Condition {
  const hasTurned = old?.status !== wanted.status;
  return {
    type: readyCondition,
    ...wanted,
    lastTransitionTime: hasTurned ? now : (old.lastTransitionTime ?? now),
    ...(service.metadata?.generation === undefined
      ? {}
      : { observedGeneration: service.metadata.generation }),
  };
}

function sameCondition(
  service: Service,
  old: Condition | undefined,
  wanted: ConditionText | undefined,
): boolean {
  if (old === undefined || wanted === undefined) return old === wanted;
  return (
    old.observedGeneration === service.metadata?.generation &&
    old.status === wanted.status &&
    old.reason === wanted.reason &&
    old.message === wanted.message
  );
}
