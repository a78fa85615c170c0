import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { ingressAddress, type LoadBalancerProvider } from './provider.ts';
import { readRecord, type ServiceRecord } from './record.ts';

/** The finalizer of Kubernetes' own service controller, so that its tests and tools know what it means. */
export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';

/**
 * What is to be done for a Service, decided from the Service alone:
 *
 * - `ignore`: it is not ours;
 * - `hold`: it may be ours, but nothing can be done until somebody changes something;
 * - `serve`: the provider is to serve it; `isTakenOver` says whether it is recorded as ours already;
 * - `release`: the provider must give it up, because it is deleted, or was taken away from it.
 */
export type Plan =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'hold'; readonly reason: EventReason; readonly message: string }
  | {
      readonly kind: 'serve';
      readonly provider: LoadBalancerProvider;
      readonly record: ServiceRecord | undefined;
    }
  | {
      readonly kind: 'release';
      readonly provider: LoadBalancerProvider;
      readonly record: ServiceRecord;
      readonly because: 'deleted' | 'no longer wanted';
    };

export interface Providers {
  readonly all: readonly LoadBalancerProvider[];
  /** Takes Services that name no class; undefined leaves them alone. */
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
        'Restore the annotation. Remove the annotation only if the Service has no load balancer.',
    };
  }
  const isDeleted = service.metadata?.deletionTimestamp !== undefined;
  const claimant = isDeleted ? undefined : claimantOf(service, providers);
  if (reading.kind === 'record')
    return planRecorded(reading.record, claimant, isDeleted, providers);
  if (claimant === undefined) return { kind: 'ignore' };
  // What the provider itself holds for this Service was put there by whoever it takes over from.
  const { namespace = '', name = '', uid = '' } = service.metadata ?? {};
  const held = claimant.get({ namespace, name, uid }) ?? [];
  const foreign = foreignAddresses(service, held.map(ingressAddress));
  if (foreign.length > 0 && !namesClass(service)) {
    return {
      kind: 'hold',
      reason: 'ForeignAddress',
      message:
        `The status of the Service has ${foreign.join(', ')}, which Causeway did not write. ` +
        // A class can't be set on a load balancer that is there.
        `To hand the Service over to ${claimant.name}, stop the other controller, then clear the status: kubectl patch service ${name} ` +
        `--namespace ${namespace} --subresource status --type merge --patch '{"status":{"loadBalancer":null}}'`,
    };
  }
  return { kind: 'serve', provider: claimant, record: undefined };
}

function planRecorded(
  record: ServiceRecord,
  claimant: LoadBalancerProvider | undefined,
  isDeleted: boolean,
  providers: Providers,
): Plan {
  const holder = providers.all.find((provider) => provider.name === record.provider);
  if (holder === undefined) {
    return {
      kind: 'hold',
      reason: 'ProviderMissing',
      message: `The provider ${record.provider} serves the Service, but this controller does not have that provider in its settings.`,
    };
  }
  if (isDeleted) return { kind: 'release', provider: holder, record, because: 'deleted' };
  // Moving to another provider is a release first; the next look takes it over anew.
  if (claimant !== holder) {
    return { kind: 'release', provider: holder, record, because: 'no longer wanted' };
  }
  return { kind: 'serve', provider: holder, record };
}

/** Who takes the Service: whom it is meant for, else the default provider if that would. */
export function claimantOf(
  service: Service,
  providers: Providers,
): LoadBalancerProvider | undefined {
  const claims = providers.all.map((provider) => ({ provider, claim: provider.claims(service) }));
  const certain = claims.find(({ claim }) => claim === 'yes');
  if (certain !== undefined) return certain.provider;
  const byDefault = claims.find(
    ({ provider, claim }) => claim === 'if-default' && provider.name === providers.defaultName,
  );
  return byDefault?.provider;
}

function namesClass(service: Service): boolean {
  return service.spec?.loadBalancerClass !== undefined;
}

/** Addresses in the status that are not among ours: put there by a user or by another controller. */
export function foreignAddresses(service: Service, ours: readonly string[]): string[] {
  const present = service.status?.loadBalancer?.ingress ?? [];
  return present
    .map(({ ip, hostname }) => ip ?? hostname ?? '')
    .filter((address) => address !== '' && !ours.includes(address));
}

/** The finalizers that hold a Service until its provider is done with it. */
export function wantedFinalizers(service: Service, provider: LoadBalancerProvider): string[] {
  const isLoadBalancer = service.spec?.type === 'LoadBalancer';
  return [
    ...(isLoadBalancer ? [cleanupFinalizer] : []),
    ...(provider.finalizer === undefined ? [] : [provider.finalizer]),
  ];
}
