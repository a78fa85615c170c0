import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import { configMaps, leases } from '@causeway/kubernetes/objects/resources';
import {
  gatewayConfigMapName,
  readGatewayConfigMap,
  readObserved,
  type GatewayEntry,
} from '../../gateway/controller/gateway-config-map.ts';
import {
  noProblems,
  type ClusterFacts,
  type GatewayFacts,
  type LeaseFacts,
  type ServiceProblems,
} from '../../health/facts.ts';
import { timeOf } from './service-facts.ts';

const controllerLeaseName = 'causeway-controller';
const usualNamespace = 'kube-system';

/** The namespace of the controller's lease and reports: the one with the newest lease, else `kube-system`. */
export async function findSystemNamespace(
  client: KubeClient,
  signal: AbortSignal,
): Promise<string> {
  const fieldSelector = `metadata.name=${controllerLeaseName}`;
  let newest = { namespace: usualNamespace, renewedAt: Number.NEGATIVE_INFINITY };
  const search = async () => {
    for await (const { metadata, spec } of client.list(leases, { fieldSelector, signal })) {
      const renewedAt = timeOf(spec?.renewTime) ?? 0;
      const { namespace = usualNamespace } = metadata ?? {};
      if (renewedAt > newest.renewedAt) newest = { namespace, renewedAt };
    }
  };
  await permitted(search());
  return newest.namespace;
}

/** Reads the facts that all Services share. What the user may not read is missing. */
export async function readClusterFacts(
  client: KubeClient,
  systemNamespace: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<ClusterFacts> {
  const name = { namespace: systemNamespace, name: gatewayConfigMapName };
  const lease = await permitted(readLease(client, systemNamespace, signal));
  const configMap = await permitted(client.find(configMaps, name, { signal }));
  return {
    now: clock.wallTime(),
    lease: lease === 'forbidden' ? { kind: 'not-read' } : lease,
    reportedAt:
      configMap === 'forbidden' || configMap === undefined
        ? undefined
        : timeOf(readObserved(configMap)?.at),
    gateways: configMap === 'forbidden' ? undefined : gatewayFacts(configMap),
    unhealthy: configMap === 'forbidden' ? noProblems : unhealthyServices(configMap),
  };
}

async function permitted<T>(work: Promise<T>): Promise<T | 'forbidden'> {
  try {
    return await work;
  } catch (error) {
    if (CausewayError.from(error).code !== 'forbidden') throw error;
    return 'forbidden';
  }
}

async function readLease(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<LeaseFacts> {
  const lease = await client.find(leases, { namespace, name: controllerLeaseName }, { signal });
  if (lease === undefined) return { kind: 'absent' };
  const { holderIdentity, renewTime, leaseDurationSeconds } = lease.spec ?? {};
  return {
    kind: 'lease',
    holder: holderIdentity ?? '',
    renewedAt: timeOf(renewTime),
    validForMs: (leaseDurationSeconds ?? 0) * 1_000,
  };
}

/** The gateways as the controller published them. */
export function gatewayFacts(configMap: ConfigMap | undefined): readonly GatewayFacts[] {
  if (configMap === undefined) return [];
  const observedAt = timeOf(readObserved(configMap)?.at);
  return readGatewayConfigMap(configMap).map((entry) => factsOf(entry, observedAt));
}

function factsOf({ name, state }: GatewayEntry, observedAt: number | undefined): GatewayFacts {
  const since = timeOf(state?.unconfirmed?.since);
  const message = state?.problems[0] ?? 'no answer yet';
  return {
    name,
    observedAt: state === undefined ? undefined : observedAt,
    reachable: state?.reachable ?? false,
    failure: state?.reachable === false ? state.problems[0] : undefined,
    failedSince: timeOf(state?.failedSince),
    role: state?.role,
    alarms: state?.problems ?? [],
    isFenced: state?.fenced ?? false,
    rejected: {
      total: state?.rejected?.total ?? 0,
      listed: new Map(
        (state?.rejected?.services ?? []).map((each) => [
          each.service,
          { message: each.message, since: undefined },
        ]),
      ),
    },
    unconfirmed: named(state?.unconfirmed, message, since),
  };
}

function unhealthyServices(configMap: ConfigMap | undefined): ServiceProblems {
  const observed = configMap === undefined ? undefined : readObserved(configMap);
  return named(observed?.unhealthy, 'no backend answers the gateways', undefined);
}

function named(
  list: { readonly total: number; readonly services: readonly string[] } | undefined,
  message: string,
  since: number | undefined,
): ServiceProblems {
  if (list === undefined) return noProblems;
  return {
    total: list.total,
    listed: new Map(list.services.map((service) => [service, { message, since }])),
  };
}
