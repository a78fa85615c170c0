import type { KubeClient } from '@causeway/kubernetes/client/client';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { endpoints } from '@causeway/kubernetes/objects/resources';
import { ownerKey, type FrontendSpec } from '../services/frontend-spec.ts';
import type { ProviderContext } from '../services/provider.ts';
import type { KlbStore } from './klb-store.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import { legacySpecAnnotation, legacyStateAnnotation, readLegacyState } from './legacy-state.ts';

/**
 * Moves the state of an older Kuryr from annotations into the KuryrLoadBalancer, then removes the
 * annotations.
 */
export async function convertLegacyState(
  client: KubeClient,
  klbs: KlbStore,
  frontend: FrontendSpec,
  klb: KuryrLoadBalancer,
  context: ProviderContext,
): Promise<KuryrLoadBalancer> {
  const { owner, annotations } = frontend;
  const { signal } = context;
  if (!isLegacy(frontend)) return klb;
  const name = nameFromKey(ownerKey(owner));
  const held = await client.find(endpoints, name, { signal });
  const onEndpoints = held?.metadata?.annotations?.[legacyStateAnnotation];
  const reading = readLegacyState(onEndpoints ?? annotations[legacyStateAnnotation]);
  let current = klb;
  if (reading.kind === 'unreadable') {
    const message = `The state that Kuryr left in ${legacyStateAnnotation} is not readable (${reading.problem}). The controller finds the load balancer by name and address instead.`;
    context.recordEvent('KuryrStateUnreadable', message);
    return klb;
  }
  if (reading.kind === 'status' && klb.status?.loadbalancer === undefined) {
    current = await klbs.writeStatus(klb, { ...klb.status, ...reading.status }, signal);
  }
  // Only now: before the status is written, the annotations are the only record.
  const removal = { [legacySpecAnnotation]: null, [legacyStateAnnotation]: null };
  if (onEndpoints !== undefined) {
    await client.patchMerge(endpoints, name, { metadata: { annotations: removal } }, { signal });
  }
  await context.annotate(removal);
  return current;
}

/** Whether an older Kuryr left its state on the Service. */
export function isLegacy({ annotations }: FrontendSpec): boolean {
  return legacySpecAnnotation in annotations || legacyStateAnnotation in annotations;
}
