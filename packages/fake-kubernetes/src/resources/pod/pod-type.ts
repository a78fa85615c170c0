import type { JsonObject, KubeObject } from '../../object.ts';

export interface ContainerPort {
  name?: string;
  containerPort: number;
  hostPort?: number;
  hostIP?: string;
  protocol?: string;
}

export interface Container extends JsonObject {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  ports?: ContainerPort[];
  env?: { name: string; value?: string; valueFrom?: JsonObject }[];
  resources?: { limits?: Record<string, string>; requests?: Record<string, string> };
  restartPolicy?: string;
  volumeMounts?: { name: string; mountPath: string }[];
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface PodSpec extends JsonObject {
  containers: Container[];
  initContainers?: Container[];
  volumes?: (JsonObject & { name: string })[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  hostNetwork?: boolean;
  hostname?: string;
  subdomain?: string;
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  tolerations?: Toleration[];
  readinessGates?: { conditionType: string }[];
  serviceAccountName?: string;
  serviceAccount?: string;
  schedulerName?: string;
}

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string | null;
  observedGeneration?: number;
}

export interface ContainerState {
  waiting?: { reason?: string };
  running?: { startedAt?: string | null };
  terminated?: {
    exitCode: number;
    reason?: string;
    signal?: number;
    startedAt?: string | null;
    finishedAt?: string | null;
  };
}

export interface ContainerStatus {
  name: string;
  ready: boolean;
  started?: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
  state?: ContainerState;
  lastState?: ContainerState;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: PodCondition[];
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  hostIPs?: { ip: string }[];
  startTime?: string;
  qosClass?: string;
  nominatedNodeName?: string;
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  observedGeneration?: number;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface PodTemplate {
  metadata?: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    name?: string;
    finalizers?: string[];
  };
  spec: PodSpec;
}

export function isPodReady(pod: Pod): boolean {
  return hasCondition(pod, 'Ready');
}

export function hasCondition(pod: Pod, wanted: string): boolean {
  return (pod.status?.conditions ?? []).some(
    ({ type, status }) => type === wanted && status === 'True',
  );
}

/** Whether the pod has ended, with success or with an error. */
export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
