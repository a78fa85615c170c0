import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Condition } from '@causeway/kubernetes/objects/object';
import { ingressAddress, type Ingress } from './provider.ts';

/** The condition in which a Service's status says how its load balancer is. */
export const readyCondition = 'causeway.dev/LoadBalancerReady';

export interface ConditionText {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The parts of a Service's status that are ours. Undefined parts are to be absent. */
export interface WantedStatus {
  readonly ingress: readonly PresentIngress[] | undefined;
  readonly condition: ConditionText | undefined;
}

/** What the API knows of an entry; others may have written one that we would not. */
export type PresentIngress = NonNullable<
  NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress']
>[number];

/**
 * What goes into the status: our addresses, and before them whatever others have put there, which is
 * never taken away.
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

/** Whether the status of the Service has a condition of ours, whatever it says. */
export function hasCondition(service: Service): boolean {
  return conditionOf(service) !== undefined;
}

/** Whether the condition says that the Service is served, with this message. */
export function saysServed(service: Service, message: string): boolean {
  const condition = conditionOf(service);
  return condition?.status === 'True' && condition.message === message;
}

function conditionOf({ status }: Service): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === readyCondition);
}

/** Whether its status says that it is served, and on these addresses if they are known. */
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
 * What is to be written so that our part of the status is as wanted, or undefined when it is already.
 * Conditions come as the whole list, with those of others as they are.
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
