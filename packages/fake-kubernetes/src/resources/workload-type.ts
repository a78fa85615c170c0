import type { KubeObject } from '../object.ts';
import type { LabelSelector } from './label-selector.ts';
import type { PodTemplate } from './pod/pod-type.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
}

export interface Deployment extends KubeObject {
  spec: {
    replicas: number;
    selector: LabelSelector;
    template: PodTemplate;
    strategy: {
      type: string;
      rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
    };
    minReadySeconds?: number;
    paused?: boolean;
    progressDeadlineSeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    unavailableReplicas?: number;
    terminatingReplicas?: number;
    conditions?: Condition[];
    collisionCount?: number;
  };
}

interface ReplicaStatus {
  observedGeneration?: number;
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  conditions?: Condition[];
}

export interface ReplicaSet extends KubeObject {
  spec: {
    replicas: number;
    selector: LabelSelector;
    template: PodTemplate;
    minReadySeconds?: number;
  };
  status?: ReplicaStatus;
}

export interface ReplicationController extends KubeObject {
  spec: {
    replicas: number;
    selector?: Record<string, string>;
    template: PodTemplate;
    minReadySeconds?: number;
  };
  status?: ReplicaStatus;
}

export interface StatefulSet extends KubeObject {
  spec: {
    replicas: number;
    selector: LabelSelector;
    serviceName?: string;
    template: PodTemplate;
    podManagementPolicy?: string;
    updateStrategy: {
      type: string;
      rollingUpdate?: { partition?: number; maxUnavailable?: number | string };
    };
    revisionHistoryLimit?: number;
    minReadySeconds?: number;
    ordinals?: { start?: number };
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
    volumeClaimTemplates?: (KubeObject & { spec?: { volumeMode?: string }; status?: object })[];
  };
  status?: {
    observedGeneration?: number;
    replicas: number;
    readyReplicas?: number;
    availableReplicas: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    collisionCount?: number;
    conditions?: Condition[];
  };
}
