import type { KubeClient } from '@causeway/kubernetes/client/client';
import { keyOf, nameFromKey, type KubeObject } from '@causeway/kubernetes/objects/object';
import { changeOf } from './compare-objects.ts';
import { isGimbals } from './gimbal.ts';
import { wasOurs } from './ownership.ts';
import type { Write } from './plan-project.ts';
import type { Problem } from './problem.ts';

export interface TakenNameOptions {
  readonly backend: string;
  readonly client: KubeClient;
  /** Whether Gimbal's objects for the same load balancers are adopted. */
  readonly adoptGimbal: boolean;
}

/** The action if another object may have the name that a write needs. */
export type Finding =
  | { readonly kind: 'write'; readonly write: Write; readonly isAdoption: boolean }
  | { readonly kind: 'right'; readonly actual: KubeObject }
  | { readonly kind: 'taken'; readonly problem: Problem };

/**
 * Decides by the object on the server: another client was faster, the watch is behind, or the object is
 * foreign.
 */
export async function readAgain(
  { resource, wanted }: Write,
  { backend, client, adoptGimbal }: TakenNameOptions,
  signal: AbortSignal,
): Promise<Finding> {
  const actual = await client.find(resource, nameFromKey(keyOf(wanted)), { signal });
  if (actual === undefined) {
    return { kind: 'write', write: { verb: 'create', resource, wanted }, isAdoption: false };
  }
  const isFromGimbal = isGimbals(actual, wanted);
  if (!wasOurs(backend, actual) && !(adoptGimbal && isFromGimbal)) {
    return { kind: 'taken', problem: nameTaken(resource.kind, wanted, isFromGimbal) };
  }
  const verb = changeOf(resource, actual, wanted);
  if (verb === undefined) return { kind: 'right', actual };
  return { kind: 'write', write: { verb, resource, wanted, actual }, isAdoption: isFromGimbal };
}

function nameTaken(kind: string, wanted: KubeObject, isFromGimbal: boolean): Problem {
  const advice = isFromGimbal
    ? "was created by Gimbal; stop Gimbal's discoverer, and set adoptGimbal to adopt the object"
    : 'does not belong to discovery; rename or remove the object, and discovery creates its own';
  return {
    severity: 'refusal',
    reason: 'NameTaken',
    message: `${kind} ${keyOf(wanted)} exists and ${advice}`,
  };
}
