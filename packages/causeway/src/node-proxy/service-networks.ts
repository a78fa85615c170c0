import { CausewayError } from '@causeway/base/error/causeway-error';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { isServed } from '@causeway/kubernetes/objects/is-served';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { defineResource } from '@causeway/kubernetes/objects/resource';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import { whenAborted } from '@causeway/base/time/when-aborted';

export interface ServiceNetworksOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly onChange: (networks: readonly Prefix[]) => void;
}

interface ServiceCIDR extends KubeObject {
  readonly spec?: { readonly cidrs?: readonly string[] };
}

export const serviceCIDRs = defineResource<ServiceCIDR>({
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'servicecidrs',
  kind: 'ServiceCIDR',
  namespaced: false,
});

const recheckMs = 60_000;

/** Follows the networks from which cluster addresses are assigned. Old clusters have no ServiceCIDRs. */
export async function followServiceNetworks(
  options: ServiceNetworksOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, log, metrics, onChange } = options;
  while (!(await areServed(options, signal))) await sleep(clock, recheckMs, signal);
  const store = new Store<ServiceCIDR>({ log });
  const report = () => onChange(networksOf(store.values(), log));
  store.onChange(() => {
    if (store.isSynced) report();
  });
  const reflector = new Reflector({
    client,
    clock,
    log,
    metrics,
    store,
    resource: serviceCIDRs,
    projection: withSlimMetadata<ServiceCIDR>,
  });
  await supervise(signal, {
    ServiceCIDRs: (inner) => reflector.run(inner),
    networks: async (inner) => {
      await whenSynced([store], inner);
      report();
      await whenAborted(inner);
    },
  });
}

/** Without ServiceCIDRs all Services are served, but packets to unallocated addresses are routed on. */
async function areServed(
  { client, log }: ServiceNetworksOptions,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await isServed(client, serviceCIDRs, signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = CausewayError.from(thrown);
    log.warn(
      { error },
      'ServiceCIDRs cannot be read: unallocated cluster addresses are not dropped',
    );
    return false;
  }
}

function networksOf(objects: Iterable<ServiceCIDR>, log: Log): Prefix[] {
  const networks: Prefix[] = [];
  for (const { metadata, spec } of objects) {
    for (const text of spec?.cidrs ?? []) {
      try {
        const { address, length } = parseInterface(text);
        networks.push(prefixOf(address, length));
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        log.warn({ name: metadata?.name, error }, 'a ServiceCIDR cannot be read');
      }
    }
  }
  return networks;
}
