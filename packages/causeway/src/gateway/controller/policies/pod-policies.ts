import { tryParseAddress, type Address } from '@causeway/base/address/address';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Pod } from '@causeway/kubernetes/objects/core-objects';
import type { NetworkPolicy } from '@causeway/kubernetes/objects/network-objects';
import { slimMetadata, withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { networkPolicies, pods } from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import { textLimits } from '@causeway/base/text/text-limit';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import type { BudgetExcess } from '@causeway/kubernetes/objects/service-budget';
import { policyExcess } from './policy-budget.ts';
import { defaultWeight, parseWeight, weightAnnotation, weightTextOf } from './pod-weight.ts';
import { assignmentFor, limitsIngress, policyFrom } from './policy-rules.ts';
import type { NamespacePolicies } from '../fleet/desired-state.ts';
import type { Assignment } from '../../protocol/policy.ts';

export interface PodPoliciesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A changed namespace, and the addresses of pods in it that have another weight than before. */
export type OnPodChange = (namespace: string, reweighted: readonly Address[]) => void;

/** The records of one pod for a list of policies, by address. */
interface PodRecords {
  readonly limiting: readonly NetworkPolicy[];
  readonly byAddress: { readonly address: Address; readonly assignment: Assignment | undefined }[];
}

/** The network policies of the cluster, and the pods with their weights, for the layer Pod. */
export class PodPolicies {
  readonly #log: Log;
  readonly #policies: Store<NetworkPolicy, 'namespace'>;
  readonly #pods: Store<Pod, 'address'>;
  /** The policies of each namespace that limit connections, as one list until they change. */
  readonly #limitingIn = new Map<string, readonly NetworkPolicy[]>();
  /** The records of pods. An unchanged pod keeps its record, so that a change costs little for the others. */
  readonly #records = new WeakMap<Pod, PodRecords>();
  readonly #policyReflector: Reflector<NetworkPolicy, NetworkPolicy, 'namespace'>;
  readonly #podReflector: Reflector<Pod, Pod, 'address'>;

  constructor(options: PodPoliciesOptions) {
    const { log } = options;
    this.#log = log;
    const namespaceOf = ({ metadata }: NetworkPolicy) => [metadata?.namespace ?? ''];
    this.#policies = new Store({ log, indexes: { namespace: namespaceOf } });
    this.#pods = new Store({ log, indexes: { address: addressesOf } });
    this.#policyReflector = new Reflector({
      ...options,
      resource: networkPolicies,
      store: this.#policies,
      projection: withSlimMetadata,
    });
    this.#podReflector = new Reflector({
      ...options,
      resource: pods,
      store: this.#pods,
      projection: slimPod,
    });
  }

  readiness(): string | undefined {
    return this.#policyReflector.readiness() ?? this.#podReflector.readiness();
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return whenSynced([this.#policies, this.#pods], signal);
  }

  /**
   * Whether the gateways may get a pod's address: only after its policies are known. Endpoints and pods
   * arrive by different watches, and the pod may arrive last.
   */
  isKnown(namespace: string, address: Address): boolean {
    return this.#limiting(namespace).length === 0 || this.#podAt(namespace, address) !== undefined;
  }

  /** Why the policies of the namespace are too large for gateways, if so. */
  excess(namespace: string): BudgetExcess | undefined {
    return policyExcess(this.#limiting(namespace));
  }

  /** The weight of a pod (`namespace/name`), and whether its annotation can be read. */
  weightOf(pod: string): { readonly weight: number; readonly isValid: boolean } {
    const known = this.#pods.get(pod);
    const text = known === undefined ? undefined : weightTextOf(known);
    if (text === undefined) return { weight: defaultWeight, isValid: true };
    const weight = parseWeight(text);
    return { weight: weight ?? defaultWeight, isValid: weight !== undefined };
  }

  /** The records for gateways to enforce the policies of a namespace at these pods' addresses. */
  of(namespace: string, addresses: Iterable<Address>): NamespacePolicies {
    const limiting = this.#limiting(namespace);
    if (limiting.length === 0) return { policies: [], assignments: [] };
    const assignments = [...addresses].flatMap((address) => {
      const pod = this.#podAt(namespace, address);
      // Policies don't apply to a pod on its node's network.
      if (pod === undefined || pod.spec?.hostNetwork === true) return [];
      return this.#assignment(address, pod, limiting) ?? [];
    });
    const used = new Set<string>(assignments.flatMap(({ policies }) => policies));
    const isOver = policyExcess(limiting) !== undefined;
    const policies = limiting
      // Policies beyond the budget admit nothing until the Services of the namespace are closed.
      .map((policy) => (isOver ? withoutRules(policy) : policy))
      .map((policy) => policyFrom(policy, (problem) => this.#complain(policy, problem)))
      .filter(({ name }) => used.has(`${namespace}/${name}`));
    return { policies, assignments };
  }

  /** Calls back with the namespace of changed policies or pods. */
  onChange(callback: OnPodChange): () => void {
    const stops = [
      this.#policies.onChange((change) => {
        const { metadata } = change.type === 'deleted' ? change.before : change.after;
        callback(metadata?.namespace ?? '', []);
      }),
      this.#pods.onChange((change) => {
        if (change.type === 'updated' && isSameToGateways(change.before, change.after)) return;
        const pod = change.type === 'deleted' ? change.before : change.after;
        const before = change.type === 'updated' ? change.before : undefined;
        callback(pod.metadata?.namespace ?? '', reweighted(before, pod));
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    await supervise(signal, {
      'network policies reflector': (inner) => this.#policyReflector.run(inner),
      'pods reflector': (inner) => this.#podReflector.run(inner),
    });
  }

  #assignment(
    address: Address,
    pod: Pod,
    limiting: readonly NetworkPolicy[],
  ): Assignment | undefined {
    let records = this.#records.get(pod);
    if (records?.limiting !== limiting) {
      records = { limiting, byAddress: [] };
      this.#records.set(pod, records);
    }
    const known = records.byAddress.find((each) => each.address === address);
    if (known !== undefined) return known.assignment;
    const assignment = assignmentFor(address, pod, limiting);
    records.byAddress.push({ address, assignment });
    return assignment;
  }

  #limiting(namespace: string): readonly NetworkPolicy[] {
    const found = this.#policies.byIndex('namespace', namespace).filter(limitsIngress);
    const known = this.#limitingIn.get(namespace) ?? [];
    const isSame = known.length === found.length && found.every((one, at) => one === known[at]);
    if (isSame) return known;
    if (found.length === 0) this.#limitingIn.delete(namespace);
    else this.#limitingIn.set(namespace, found);
    return found;
  }

  #podAt(namespace: string, address: Address): Pod | undefined {
    return this.#pods
      .byIndex('address', address)
      .find(({ metadata }) => metadata?.namespace === namespace);
  }

  #complain({ metadata }: NetworkPolicy, problem: string): void {
    const policy = `${metadata?.namespace}/${metadata?.name}`;
    this.#log.warn({ policy, problem }, 'a part of the network policy admits nothing');
  }
}

function withoutRules({ metadata, spec }: NetworkPolicy): NetworkPolicy {
  return {
    ...(metadata === undefined ? {} : { metadata }),
    spec: { podSelector: spec?.podSelector ?? {} },
  };
}

/** A pod's status changes far more often than the fields that gateways depend on. */
function isSameToGateways(before: Pod, after: Pod): boolean {
  return (
    before.metadata?.uid === after.metadata?.uid &&
    JSON.stringify([before.metadata?.labels, weightTextOf(before), before.status]) ===
      JSON.stringify([after.metadata?.labels, weightTextOf(after), after.status])
  );
}

/** The addresses of the pod, if its weight may differ from the weight in use. */
function reweighted(before: Pod | undefined, pod: Pod): readonly Address[] {
  const isWeighted = weightTextOf(pod) !== undefined;
  const wasWeighted = before !== undefined && weightTextOf(before) !== undefined;
  return isWeighted || wasWeighted ? addressesOf(pod) : [];
}

/** A pod that has ended no longer has its address: another pod may have it. */
function addressesOf({ status }: Pod): Address[] {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return [];
  return (status?.podIPs ?? []).flatMap(({ ip }) => tryParseAddress(ip) ?? []);
}

function slimPod({ metadata, spec, status }: Pod): Pod {
  const { annotations, ownerReferences: _, ...rest } = slimMetadata(metadata);
  const weight = annotations?.[weightAnnotation]?.slice(0, textLimits.value);
  return {
    metadata: {
      ...rest,
      ...(weight === undefined ? {} : { annotations: { [weightAnnotation]: weight } }),
    },
    spec: {
      ...(spec?.hostNetwork === true ? { hostNetwork: true } : {}),
      containers: (spec?.containers ?? []).map(({ name, ports }) => ({
        name,
        ...(ports === undefined ? {} : { ports }),
      })),
    },
    status: {
      ...(status?.phase === undefined ? {} : { phase: status.phase }),
      podIPs: status?.podIPs ?? [],
    },
  };
}
