import type { PodTemplateSpec } from './core-objects.ts';
import type { Condition, IntOrString, KubeObject, LabelSelector, StringMap } from './object.ts';

interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly conditions?: readonly Condition[];
}

export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
    readonly strategy?: {
      readonly type?: 'Recreate' | 'RollingUpdate';
      readonly rollingUpdate?: {
        readonly maxSurge?: IntOrString;
        readonly maxUnavailable?: IntOrString;
      };
    };
  };
  readonly status?: WorkloadStatus & {
    readonly updatedReplicas?: number;
    readonly unavailableReplicas?: number;
  };
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template?: PodTemplateSpec;
    readonly minReadySeconds?: number;
  };
  readonly status?: WorkloadStatus & { readonly fullyLabeledReplicas?: number };
}

export interface ReplicationController extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: StringMap;
    readonly template?: PodTemplateSpec;
    readonly minReadySeconds?: number;
  };
  readonly status?: WorkloadStatus & { readonly fullyLabeledReplicas?: number };
}

export interface StatefulSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
    readonly minReadySeconds?: number;
  };
  readonly status?: WorkloadStatus & {
    readonly currentReplicas?: number;
    readonly updatedReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

/** The `scale` subresource, the same for all objects with replicas. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

export interface HorizontalPodAutoscaler extends KubeObject {
  readonly spec?: {
    readonly scaleTargetRef: {
      readonly apiVersion?: string;
      readonly kind: string;
      readonly name: string;
    };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly Readonly<Record<string, unknown>>[];
  };
  readonly status?: {
    readonly currentReplicas?: number;
    readonly desiredReplicas?: number;
    readonly lastScaleTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** Times with microseconds, like the API's MicroTime. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
