import { asArray, asObject, isObject, type JsonObject } from '../../object.ts';
import { canonicalQuantity } from '../quantity.ts';
import type {
  Container,
  ContainerState,
  Pod,
  PodSpec,
  PodTemplate,
  Toleration,
} from './pod-type.ts';

/** Defaults of a pod spec, in a Pod or in a template. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.containers ??= [];
  spec['dnsPolicy'] ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec['securityContext'] ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= 'default-scheduler';
  if (spec.serviceAccountName !== undefined) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount !== undefined) spec.serviceAccountName = spec.serviceAccount;
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
    defaultContainer(container, spec.hostNetwork === true);
  }
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
}

export function defaultPodTemplate(template: PodTemplate): void {
  template.metadata ??= {};
  template.spec ??= { containers: [] };
  defaultPodSpec(template.spec);
}

/** Defaults that apply only to Pods, in addition to those of templates. */
export function defaultPod(pod: Pod): void {
  pod.spec ??= { containers: [] };
  defaultPodSpec(pod.spec);
  pod.spec['enableServiceLinks'] ??= true;
  for (const condition of pod.status?.conditions ?? []) {
    condition.lastProbeTime ??= null;
    condition.lastTransitionTime ??= null;
  }
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  for (const status of [...containerStatuses, ...initContainerStatuses]) {
    status.state = defaultState(status.state);
    status.lastState = defaultState(status.lastState);
  }
  for (const { resources } of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    if (resources?.limits === undefined) continue;
    resources.requests = { ...resources.limits, ...resources.requests };
  }
}

/** Unknown times are null. */
function defaultState(state: ContainerState = {}): ContainerState {
  if (state.running !== undefined) state.running.startedAt ??= null;
  if (state.terminated !== undefined) {
    state.terminated.startedAt ??= null;
    state.terminated.finishedAt ??= null;
  }
  return state;
}

/** Fields that admission adds when a Pod is created. */
export function admitPod(pod: Pod): void {
  pod.spec['priority'] ??= 0;
  pod.spec['preemptionPolicy'] ??= 'PreemptLowerPriority';
  for (const reason of ['not-ready', 'unreachable']) {
    const key = `node.kubernetes.io/${reason}`;
    if ((pod.spec.tolerations ?? []).some((one) => toleratesExecution(one, key))) continue;
    const toleration = { effect: 'NoExecute', key, operator: 'Exists', tolerationSeconds: 300 };
    pod.spec.tolerations = [...(pod.spec.tolerations ?? []), toleration];
  }
  pod.status = { phase: 'Pending', qosClass: qosClass(pod) };
}

function toleratesExecution({ key, effect }: Toleration, wanted: string): boolean {
  const fitsKey = key === undefined || key === '' || key === wanted;
  return fitsKey && (effect === undefined || effect === '' || effect === 'NoExecute');
}

const countedResources = ['cpu', 'memory'];

function qosClass({ spec }: Pod): string {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const isBare = containers.every(({ resources }) =>
    countedResources.every(
      (name) =>
        resources?.limits?.[name] === undefined && resources?.requests?.[name] === undefined,
    ),
  );
  if (isBare) return 'BestEffort';
  const isGuaranteed = containers.every(({ resources }) =>
    countedResources.every((name) => {
      const limit = resources?.limits?.[name];
      return limit !== undefined && limit === resources?.requests?.[name];
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function defaultContainer(container: Container, onHost: boolean): void {
  container.imagePullPolicy ??= isLatest(container.image ?? '') ? 'Always' : 'IfNotPresent';
  container['terminationMessagePath'] ??= '/dev/termination-log';
  container['terminationMessagePolicy'] ??= 'File';
  container.resources ??= {};
  for (const amounts of [container.resources.limits, container.resources.requests]) {
    for (const [name, amount] of Object.entries(amounts ?? {})) {
      if (amounts !== undefined) amounts[name] = canonicalQuantity(amount);
    }
  }
  for (const port of container.ports ?? []) {
    port.protocol ??= 'TCP';
    if (onHost) port.hostPort ??= port.containerPort;
  }
  for (const { valueFrom } of container.env ?? []) defaultFieldRef(valueFrom);
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[name];
    if (isObject(probe)) defaultProbe(probe);
  }
  for (const hook of Object.values(asObject(container['lifecycle']))) {
    const request = asObject(hook)['httpGet'];
    if (isObject(request)) defaultHttpGet(request);
  }
}

function isLatest(image: string): boolean {
  if (image.includes('@')) return false;
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest';
}

function defaultProbe(probe: JsonObject): void {
  probe['timeoutSeconds'] ??= 1;
  probe['periodSeconds'] ??= 10;
  probe['successThreshold'] ??= 1;
  probe['failureThreshold'] ??= 3;
  if (isObject(probe['httpGet'])) defaultHttpGet(probe['httpGet']);
  if (isObject(probe['grpc'])) probe['grpc']['service'] ??= '';
}

function defaultHttpGet(request: JsonObject): void {
  request['path'] ??= '/';
  request['scheme'] ??= 'HTTP';
}

function defaultFieldRef(holder: unknown): void {
  const reference = asObject(holder)['fieldRef'];
  if (isObject(reference)) reference['apiVersion'] ??= 'v1';
}

const modedVolumes = ['secret', 'configMap', 'downwardAPI', 'projected'];
const readWriteModes = 0o644;

function defaultVolume(volume: JsonObject): void {
  const kinds = Object.keys(volume).filter((name) => name !== 'name');
  if (kinds.length === 0) volume['emptyDir'] = {};
  for (const name of modedVolumes) {
    const source = volume[name];
    if (!isObject(source)) continue;
    source['defaultMode'] ??= readWriteModes;
    for (const item of asArray(source['items'])) defaultFieldRef(item);
    for (const projection of asArray(source['sources'])) defaultProjection(asObject(projection));
  }
  if (isObject(volume['hostPath'])) volume['hostPath']['type'] ??= '';
}

function defaultProjection(projection: JsonObject): void {
  const token = projection['serviceAccountToken'];
  if (isObject(token)) token['expirationSeconds'] ??= 3600;
  for (const item of asArray(asObject(projection['downwardAPI'])['items'])) defaultFieldRef(item);
}
