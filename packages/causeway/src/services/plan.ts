import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { ingressAddress } from './provider.ts';
import { readRecord, type ServiceRecord } from './record.ts';
import type { ServiceProvider } from './service-provider.ts';

/** The finalizer of the Kubernetes service controller. Its tests and tools recognize it. */
export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';

/**
 * The action for a Service, decided from the Service alone:
 *
 * - `ignore`: Causeway does not serve it;
 * - `hold`: nothing can be done until an operator or a user changes something;
 * - `serve`: the provider serves it; without a `record`, it is new to Causeway;
 * - `release`: the provider releases it, because it is deleted or no longer belongs to the provider.
 */
export type Plan =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'hold'; readonly reason: EventReason; readonly message: string }
  | {
      readonly kind: 'serve';
      readonly provider: ServiceProvider;
      readonly record: ServiceRecord | undefined;
    }
  | {
      readonly kind: 'release';
      readonly provider: ServiceProvider;
      readonly record: ServiceRecord;
      readonly because: 'deleted' | 'no longer wanted';
    };

export interface Providers {
  readonly all: readonly ServiceProvider[];
  /** The provider for Services without a class; undefined ignores these Services. */
  readonly defaultName: string | undefined;
}

export function planService(service: Service, providers: Providers): Plan {
  const reading = readRecord(service);
  if (reading.kind === 'unreadable') {
    return {
      kind: 'hold',
      reason: 'UnreadableRecord',
      message:
        `The annotation causeway.dev/load-balancer can't be read (${reading.problem}). ` +
        'Restore it, or remove it if this Service has no load balancer.',
    };
  }
  const isDeleted = service.metadata?.deletionTimestamp !== undefined;
  const matching = isDeleted ? undefined : matchingProvider(service, providers);
  if (reading.kind === 'record')
    return planRecorded(reading.record, matching, isDeleted, providers);
  if (matching === undefined) return { kind: 'ignore' };
  // If the provider itself holds an address for this Service, the program that Causeway replaces has put it
  // there.
  const { namespace = '', name = '', uid = '' } = service.metadata ?? {};
  const held = matching.get({ namespace, name, uid }) ?? [];
  const foreign = foreignAddresses(service, held.map(ingressAddress));
  if (foreign.length > 0 && !namesClass(service)) {
    return {
      kind: 'hold',
      reason: 'ForeignAddress',
      message:
        `The status has ${foreign.join(', ')}, which Causeway did not write. ` +
        // The API rejects a class on a Service that already is a load balancer.
        `To hand it over to ${matching.name}, clear the status after the other load balancer has stopped: kubectl patch service ${name} ` +
        `--namespace ${namespace} --subresource status --type merge --patch '{"status":{"loadBalancer":null}}'`,
    };
  }
  return { kind: 'serve', provider: matching, record: undefined };
}

function planRecorded(
  record: ServiceRecord,
  matching: ServiceProvider | undefined,
  isDeleted: boolean,
  providers: Providers,
): Plan {
  const holder = providers.all.find((provider) => provider.name === record.provider);
  if (holder === undefined) {
    return {
      kind: 'hold',
      reason: 'ProviderMissing',
      message: `The provider ${record.provider} serves this Service, but it is not configured.`,
    };
  }
  if (isDeleted) return { kind: 'release', provider: holder, record, because: 'deleted' };
  // A move to another provider starts with a release; the next reconcile takes the Service over.
  if (matching !== holder) {
    return { kind: 'release', provider: holder, record, because: 'no longer wanted' };
  }
  return { kind: 'serve', provider: holder, record };
}

/**
 * The provider that serves the Service: the provider that it names, else the default provider if it accepts
 * the Service.
 */
export function matchingProvider(
  service: Service,
  providers: Providers,
): ServiceProvider | undefined {
  const matches = providers.all.map((provider) => ({ provider, match: provider.match(service) }));
  const certain = matches.find(({ match }) => match === 'yes');
  if (certain !== undefined) return certain.provider;
  const byDefault = matches.find(
    ({ provider, match }) => match === 'if-default' && provider.name === providers.defaultName,
  );
  return byDefault?.provider;
}

function namesClass(service: Service): boolean {
  return service.spec?.loadBalancerClass !== undefined;
}

/** Addresses in the status that Causeway did not write, but a user or another controller. */
export function foreignAddresses(service: Service, ours: readonly string[]): string[] {
  const present = service.status?.loadBalancer?.ingress ?? [];
  return present
    .map(({ ip, hostname }) => ip ?? hostname ?? '')
    .filter((address) => address !== '' && !ours.includes(address));
}

/** The finalizers that keep a Service until its provider has released it. */
export function wantedFinalizers(service: Service, provider: ServiceProvider): string[] {
  const isLoadBalancer = service.spec?.type === 'LoadBalancer';
  return [
    ...(isLoadBalancer ? [cleanupFinalizer] : []),
    ...(provider.finalizer === undefined ? [] : [provider.finalizer]),
  ];
}
