import type { Family } from '@causeway/base/address/address';
import { controllerHealth, type ControllerHealth } from './controller-health.ts';
import { judgeEndpoints } from './endpoint-health.ts';
import type { ClusterFacts, GatewayFacts, ServiceFacts, ServiceProblem } from './facts.ts';
import { gatewayPath, isLate, judgePaths, type GatewayPath } from './gateway-health.ts';
import { rankCauses, type Cause, type Verdict } from './state.ts';

const gatewayProvider = 'gateway';

/** What clients of one address family get, and what each gateway does with their packets. */
export interface FamilyHealth extends Verdict {
  /** Undefined if the address is a host name. */
  readonly family: Family | undefined;
  readonly addresses: readonly string[];
  /** Empty if gateways do not serve the Service. */
  readonly gateways: readonly GatewayPath[];
}

export interface ServiceHealth extends Verdict {
  readonly key: string;
  readonly families: readonly FamilyHealth[];
}

/** The part of the health that all Services share, computed once. */
export interface ClusterHealth {
  readonly facts: ClusterFacts;
  readonly controller: ControllerHealth;
  /** The paths through the gateways without problems of single Services; undefined if not read. */
  readonly paths: ReadonlyMap<Family, readonly GatewayPath[]> | undefined;
}

export function clusterHealth(facts: ClusterFacts): ClusterHealth {
  const { now, gateways } = facts;
  const pathsOf = (family: Family) =>
    (gateways ?? []).map((each) => gatewayPath(each, family, now));
  return {
    facts,
    controller: controllerHealth(facts.lease, facts.reportedAt, now),
    paths:
      gateways === undefined
        ? undefined
        : new Map<Family, readonly GatewayPath[]>([
            [4, pathsOf(4)],
            [6, pathsOf(6)],
          ]),
  };
}

/** What a client of the Service gets, and why. */
export function serviceHealth(service: ServiceFacts, cluster: ClusterHealth): ServiceHealth {
  const { key } = service;
  const early = lifecycle(service, cluster) ?? withoutAddress(service, cluster);
  if (early !== undefined) {
    return { key, families: [], state: early.state, causes: rankCauses(early.causes) };
  }
  const families = familiesOf(service).map((family) => familyHealth(service, family, cluster));
  return { key, families, ...combine(families, changeCauses(service, cluster)) };
}

/** The state of a Service that has no load balancer, or loses it. */
function lifecycle(service: ServiceFacts, { controller }: ClusterHealth): Verdict | undefined {
  const { provider, deletion, addresses, className } = service;
  const failing = controller.cause === undefined ? [] : [controller.cause];
  if (deletion !== undefined) {
    const remedy = 'Wait for the release. Do not remove the finalizer: that leaks addresses.';
    const message = `The Service is being deleted and waits for ${deletion.waitsFor}.`;
    const cause: Cause = { code: 'deleting', message, since: deletion.since, remedy };
    return { state: 'deleting', causes: [...failing, cause] };
  }
  if (provider.kind === 'unreadable') {
    const message = `The annotation causeway.dev/load-balancer can't be read: ${provider.problem}.`;
    const remedy = 'Restore the annotation, or remove it if the Service has no load balancer.';
    const cause: Cause = { code: 'record-unreadable', message, since: undefined, remedy };
    return { state: 'not-served', causes: [cause, ...failing] };
  }
  if (provider.kind === 'record') return undefined;
  if (!service.isLoadBalancer) return { state: 'internal', causes: [] };
  if (addresses.length > 0) return undefined;
  return { state: 'not-served', causes: [...failing, noProvider(service, className)] };
}

function noProvider({ createdAt: since }: ServiceFacts, className: string | undefined): Cause {
  const code = 'no-provider';
  if (className === undefined) {
    const message = 'It has no loadBalancerClass, and no default provider took it.';
    // The API rejects a new class on a Service that is a load balancer already.
    const remedy =
      'Set defaultProvider in the settings of the controller, or create the Service again with spec.loadBalancerClass (causeway.dev/gateway, causeway.dev/octavia or causeway.dev/pool).';
    return { code, message, since, remedy };
  }
  const message = `No provider here serves the class ${className}.`;
  const remedy =
    "Check that the controller runs with that provider enabled. The controller's log names the enabled providers.";
  return { code, message, since, remedy };
}

/** The state of a Service with a provider and without an address. */
function withoutAddress(service: ServiceFacts, cluster: ClusterHealth): Verdict | undefined {
  const { addresses, provider } = service;
  if (addresses.length > 0) return undefined;
  const causes = changeCauses(service, cluster);
  const isRefused = causes.some(({ code }) => code === 'refused');
  if (isRefused) return { state: 'not-served', causes };
  const pending = pendingCause(service);
  const isAffected = provider.kind === 'record' && provider.name === gatewayProvider;
  const fleet = isAffected ? fleetCauses(cluster) : [];
  return { state: 'pending', causes: [...causes, pending, ...fleet] };
}

function pendingCause({ condition, createdAt }: ServiceFacts): Cause {
  return {
    code: 'pending',
    message: condition?.message ?? 'The provider has taken the Service; no status yet.',
    since: condition?.since ?? createdAt,
    remedy: 'The provider continues automatically. If it does not, see the log of the controller.',
  };
}

/** Why the gateways serve no client at all, if so. */
function fleetCauses({ paths }: ClusterHealth): readonly Cause[] {
  const verdict = judgePaths(paths?.get(4) ?? []);
  const isOut = verdict.state === 'not-served' || verdict.state === 'unknown';
  return paths !== undefined && isOut ? verdict.causes : [];
}

/** Causes that concern the last change of the Service, and the controller. */
function changeCauses(service: ServiceFacts, { controller }: ClusterHealth): readonly Cause[] {
  const { condition, key } = service;
  const failing = controller.cause === undefined ? [] : [controller.cause];
  if (condition === undefined || condition.status === 'True') return failing;
  if (condition.reason === 'Pending') {
    return service.addresses.length === 0 ? failing : [...failing, pendingCause(service)];
  }
  const [namespace = '', name = ''] = key.split('/');
  const refused: Cause = {
    code: 'refused',
    message: `${condition.reason}: ${condition.message}`,
    since: condition.since,
    remedy: `Fix the problem in the message. \`kubectl describe service -n ${namespace} ${name}\` shows all Events.`,
  };
  return [...failing, refused];
}

function familiesOf({ addresses }: ServiceFacts): readonly (Family | undefined)[] {
  return [...new Set(addresses.map(({ family }) => family))];
}

function familyHealth(
  service: ServiceFacts,
  family: Family | undefined,
  cluster: ClusterHealth,
): FamilyHealth {
  const { provider } = service;
  const addresses = service.addresses
    .filter((each) => each.family === family)
    .map(({ address }) => address);
  const isOnGateways = provider.kind === 'record' && provider.name === gatewayProvider;
  const paths = isOnGateways ? pathsFor(service, family ?? 4, cluster) : undefined;
  const path = pathVerdict(service, paths, cluster);
  const inFamily = isOnGateways ? family : undefined;
  const endpoints = judgeEndpoints(service, inFamily);
  const unhealthy = cluster.facts.unhealthy.listed.get(service.key);
  const { state, causes } = joinChain(path, endpoints, unhealthy);
  return { family, addresses, gateways: paths ?? [], state, causes };
}

/** The state of the load balancer, before endpoints count. */
function pathVerdict(
  service: ServiceFacts,
  paths: readonly GatewayPath[] | undefined,
  cluster: ClusterHealth,
): Verdict {
  if (paths !== undefined) {
    const verdict = judgePaths(paths);
    const late = unconfirmed(service, cluster);
    if (late.length === 0 || verdict.state === 'not-served') return verdict;
    const state = verdict.state === 'serving' ? 'degraded' : verdict.state;
    return { state, causes: [...verdict.causes, ...late] };
  }
  const { cause } = cluster.controller;
  const isObserved = service.provider.kind === 'record';
  // Only the controller observes the other providers.
  if (isObserved && cause !== undefined) return { state: 'unknown', causes: [cause] };
  return { state: 'serving', causes: [] };
}

/** The paths for one Service: a gateway that rejects the Service is not able to serve it. */
function pathsFor(
  { key }: ServiceFacts,
  family: Family,
  { facts, paths }: ClusterHealth,
): readonly GatewayPath[] | undefined {
  const shared = paths?.get(family);
  if (shared === undefined) return undefined;
  return shared.map((each, index) => {
    const gateway = facts.gateways?.[index];
    const rejection = gateway?.rejected.listed.get(key);
    if (rejection === undefined || each.ability !== 'able') return each;
    const cause: Cause = {
      code: 'rejected',
      message: `${each.gateway} rejects the Service: ${rejection.message}`,
      since: rejection.since,
      remedy: 'Correct what the answer names. If one gateway rejects, check its version and log.',
      gateway: each.gateway,
    };
    return { ...each, ability: 'unable', cause };
  });
}

/** The gateways that have not confirmed the last change of the Service for too long. */
function unconfirmed({ key }: ServiceFacts, { facts }: ClusterHealth): readonly Cause[] {
  return (facts.gateways ?? []).flatMap((gateway) => {
    const problem = gateway.unconfirmed.listed.get(key) ?? unlisted(gateway);
    if (problem === undefined || !isLate(problem.since, facts.now)) return [];
    return {
      code: 'unconfirmed',
      message: `${gateway.name} has not confirmed the last change: ${problem.message}`,
      since: problem.since,
      remedy: `See the log of the agent on ${gateway.name}. It may be paused, or reject updates.`,
      gateway: gateway.name,
    } as const;
  });
}

/** A Service that a shortened list does not name may be among the missing ones. */
function unlisted({ unconfirmed: list }: GatewayFacts): ServiceProblem | undefined {
  if (list.total <= list.listed.size) return undefined;
  const [first] = list.listed.values();
  const message = `${list.total} Services wait for it, and this Service may be among them`;
  return { message, since: first?.since };
}

/** Joins the load balancer with the endpoints behind it. The first missing part decides. */
function joinChain(
  path: Verdict,
  endpoints: Verdict,
  unhealthy: ServiceProblem | undefined,
): Verdict {
  const causes = [...path.causes];
  if (path.state === 'not-served' || path.state === 'unknown') {
    const more =
      endpoints.state === 'serving' || endpoints.state === 'idle' ? [] : endpoints.causes;
    return { state: path.state, causes: rankCauses([...causes, ...more]) };
  }
  if (unhealthy !== undefined && endpoints.state !== 'idle') {
    const cause: Cause = {
      code: 'backends-unhealthy',
      message: `All backends fail their probes: ${unhealthy.message}`,
      since: unhealthy.since,
      remedy: 'Check that the pods and nodes answer on their ports, also from the gateways.',
    };
    return { state: 'not-served', causes: rankCauses([...causes, cause]) };
  }
  const state = endpoints.state === 'serving' ? path.state : endpoints.state;
  return { state, causes: rankCauses([...causes, ...endpoints.causes]) };
}

/** The families together with the causes of the whole Service. */
function combine(families: readonly FamilyHealth[], own: readonly Cause[]): Verdict {
  const states = new Set(families.map(({ state }) => state));
  const causes = rankCauses([...own, ...families.flatMap((each) => each.causes)]);
  const isServed = states.has('serving') || states.has('degraded');
  const worst =
    severity.find((state) => states.has(state)) ?? ('unknown' satisfies Verdict['state']);
  const state = isServed && worst !== 'serving' ? 'degraded' : worst;
  // A refused change or a missing controller does not end the service, but the next change has no effect.
  return { state: state === 'serving' && own.length > 0 ? 'degraded' : state, causes };
}

const severity = ['not-served', 'unknown', 'no-endpoints', 'degraded', 'idle', 'serving'] as const;
